#include "measure/bench_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "algorithms/catalogue.hpp"
#include "algorithms/collective.hpp"

namespace quadrille::measure {

namespace {

std::int64_t parse_size(std::string_view text) {
  std::int64_t number = -1;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  int shift = -1;
  if (unit.empty() || unit == "B") shift = 0;
  if (unit == "K" || unit == "KiB") shift = 10;
  if (unit == "M" || unit == "MiB") shift = 20;
  if (unit == "G" || unit == "GiB") shift = 30;
  if (error != std::errc() || number < 0 || shift < 0 || number > (std::int64_t{1} << (60 - shift))) {
    throw std::invalid_argument(fmt::format("--sizes: '{}' is no size: write 8, 64KiB, 1MiB or a range 8-1MiB", text));
  }
  return number << static_cast<unsigned>(shift);
}

template <class Value>
void add_once(std::vector<Value>& all, const Value& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

std::vector<Collective> collectives_named(const std::vector<std::string>& names) {
  if (names.empty()) throw std::invalid_argument("say what to measure, as in: quadrille bench allreduce bcast");
  std::vector<Collective> all;
  for (const std::string& name : names) {
    const std::optional<Collective> found = collective_named(name);
    if (!found) throw std::invalid_argument(fmt::format("there is no collective '{}': see quadrille list", name));
    add_once(all, *found);
  }
  return all;
}

// Those of a range in powers of the factor.
void add_range(std::vector<std::int64_t>& sizes, const std::string& word, std::size_t dash) {
  const std::size_t star = word.find('*');
  const std::int64_t factor = star == std::string::npos ? 2 : parse_size(word.substr(star + 1));
  const std::int64_t last = parse_size(word.substr(dash + 1, star == std::string::npos ? star : star - dash - 1));
  const std::int64_t first = parse_size(word.substr(0, dash));
  if (first < 1 || factor < 2) throw std::invalid_argument(fmt::format("--sizes: '{}' never ends", word));
  if (first > last) throw std::invalid_argument(fmt::format("--sizes: '{}' has nothing in it", word));
  if (factor > std::numeric_limits<std::int64_t>::max() / last) {
    throw std::invalid_argument(fmt::format("--sizes: '{}' has too large a factor", word));
  }
  for (std::int64_t size = first; size <= last; size *= factor) add_once(sizes, size);
}

// Those that serve at least one of the collectives, or stand for several.
std::vector<std::string> algorithms_named(const std::string& text, const std::vector<Collective>& collectives) {
  std::vector<std::string> all;
  if (text == "none") return all;
  for (const std::string& word : CLI::detail::split(text, ',')) {
    const bool fits = std::any_of(collectives.begin(), collectives.end(), [&word](Collective collective) {
      const Choice choice = choice_of(collective, word);
      return choice && choice.width >= 0;
    });
    if (!fits && word != "all" && word != "default") {
      throw std::invalid_argument(
          fmt::format("--algorithms: '{}' is no algorithm of what is to be measured: see quadrille list", word));
    }
    add_once(all, word);
  }
  return all;
}

// The raw before they are looked at more closely.
struct RawOptions {
  BenchOptions options;
  std::vector<std::string> collectives;
  std::string sizes = "8,64KiB,1MiB";
  std::string algorithms = "all";
};

void add_options(CLI::App& app, RawOptions& raw) {
  app.add_option("COLLECTIVE", raw.collectives, "What to measure, as allreduce; see quadrille list");
  app.add_option("--sizes", raw.sizes, "Bytes of a rank's data: 8,64KiB,1MiB or a range 8-1MiB, 8-1MiB*4")
      ->capture_default_str();
  app.add_option("--algorithms", raw.algorithms,
                 "Names as ring,bruck:4; all; default: the choice without this option; none. The MPI's own, native, is "
                 "always measured")
      ->capture_default_str();
  app.add_option("--precision", raw.options.goal.precision,
                 "Repeat until the 95 % interval is +- this part of the median")
      ->check(CLI::Range(0.0001, 1.0))
      ->capture_default_str();
  app.add_option("--time", raw.options.goal.seconds, "Seconds for a point at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--least", raw.options.goal.least, "Repeats of a point at least")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--most", raw.options.goal.most, "Repeats of a point at most")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--pause", raw.options.pause, "Seconds of silence before each repeat, at least")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--warm", raw.options.warm, "Always the same buffers: they stay in the cache");
  app.add_flag("--control", raw.options.control, "Measure native twice; the ratio of control should be 1");
  app.add_option("--delay", raw.options.delay,
                 "Measure native slowed down by this part of its time: it should be noticed")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--seed", raw.options.seed, "Of the random order")->capture_default_str();
  app.add_option("--label", raw.options.label, "How plots and comparisons call this run");
  app.add_option("--json", raw.options.json,
                 "Write everything to this file; -: to standard output, in place of the table");
  app.add_option("--csv", raw.options.csv, "Write a line for each point to this file; -: to standard output");
  app.add_option("--plot", raw.options.plot, "Draw time against size into this SVG file");
  app.add_option("--table", raw.options.table,
                 "Record where ours are faster in this file, for quadrille run --table; what it has of other "
                 "collectives, ranks and nodes stays");
}

}  // namespace

std::vector<std::int64_t> parse_sizes(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& word : CLI::detail::split(text, ',')) {
    const std::size_t dash = word.find('-');
    if (dash == std::string::npos) {
      add_once(sizes, parse_size(word));
    } else {
      add_range(sizes, word, dash);
    }
  }
  return sizes;
}

void add_options(CLI::App& app) {
  const auto raw = std::make_shared<RawOptions>();
  add_options(app, *raw);
  app.callback([raw] {});  // which keeps them as long as the command
}

BenchOptions parse_bench_options(int argc, const char* const* argv) {
  RawOptions raw;
  BenchOptions& options = raw.options;
  CLI::App app{
      "Measure collectives beside the MPI's own. Start it under mpirun: mpirun -n 4 quadrille bench allreduce"};
  app.name("quadrille bench");
  add_options(app, raw);
  try {
    app.parse(argc, argv);
    options.collectives = collectives_named(raw.collectives);
    options.sizes = parse_sizes(raw.sizes);
    options.algorithms = algorithms_named(raw.algorithms, options.collectives);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = app.exit(error, out, err);
    throw Exit{status == 0 ? 0 : 2, status == 0 ? out.str() : err.str()};
  } catch (const std::invalid_argument& error) {
    throw Exit{2, fmt::format("quadrille bench: {}\n", error.what())};
  }
  return options;
}

}  // namespace quadrille::measure
