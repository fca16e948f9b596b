#include "measure/bench_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "algorithms/catalogue.hpp"
#include "algorithms/collective.hpp"
#include "algorithms/naming.hpp"
#include "arguments/mistakes.hpp"
#include "text/size.hpp"

namespace quadrille::measure {

namespace {

std::int64_t parse_size(std::string_view text) {
  const auto bytes = text::parse_bytes(text);
  if (bytes && *bytes <= std::int64_t{1} << 60) return *bytes;
  throw std::invalid_argument(fmt::format("'{}' is not a size: use 8, 64KiB, 1MB or a range 8-1MiB", text));
}

template <class Value>
void add_once(std::vector<Value>& all, const Value& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

std::vector<Collective> collectives_named(const std::vector<std::string>& names) {
  if (names.empty()) throw std::invalid_argument("no collective given, as in: quadrille bench allreduce bcast");
  std::vector<Collective> all;
  for (const std::string& name : names) {
    add_once(all, require_collective(name));
  }
  return all;
}

// The sizes of a range: powers of the factor times the first, and the last.
void add_range(std::vector<std::int64_t>& sizes, const std::string& word, std::size_t dash) {
  const std::size_t star = word.find('*');
  const std::int64_t factor = star == std::string::npos ? 2 : parse_size(word.substr(star + 1));
  const std::int64_t last = parse_size(word.substr(dash + 1, star == std::string::npos ? star : star - dash - 1));
  const std::int64_t first = parse_size(word.substr(0, dash));
  if (first < 1 || factor < 2) throw std::invalid_argument(fmt::format("'{}' is an endless range", word));
  if (first > last) throw std::invalid_argument(fmt::format("'{}' is an empty range", word));
  if (factor > std::numeric_limits<std::int64_t>::max() / last) {
    throw std::invalid_argument(fmt::format("the factor of '{}' is too large", word));
  }
  for (std::int64_t size = first; size < last; size *= factor) add_once(sizes, size);
  add_once(sizes, last);
}

// Names that are valid for at least one of the collectives.
std::vector<std::string> algorithms_named(const std::string& text, const std::vector<Collective>& collectives) {
  std::vector<std::string> all;
  if (text == "none") return all;
  for (const std::string& word : CLI::detail::split(text, ',')) {
    const bool fits = std::any_of(collectives.begin(), collectives.end(), [&word](Collective collective) {
      const Variant variant = variant_named(collective, word);
      return variant && variant.width >= 0;
    });
    if (!fits && word != "all" && word != "default") {
      throw std::invalid_argument(fmt::format("--algorithms: {}", no_such_algorithm(collectives.front(), word)));
    }
    add_once(all, word);
  }
  return all;
}

// Before validation.
struct RawOptions {
  BenchOptions options;
  std::vector<std::string> collectives;
  std::string sizes = "8,64KiB,1MiB";
  std::string algorithms = "all";
};

void add_options(CLI::App& app, RawOptions& raw) {
  app.add_option("COLLECTIVE", raw.collectives, "Collectives to measure, as allreduce; see quadrille list");
  app.add_option("--sizes", raw.sizes,
                 "Bytes of a rank's data: 8,64KiB,1MiB or a range with both ends, 8-1MiB (doubling) or 8-1MiB*4")
      ->capture_default_str();
  app.add_option("--algorithms", raw.algorithms,
                 "Names as ring,bruck:4; all that are offered for choice; default: the library's selection; none. The "
                 "MPI's own call, native, is "
                 "always measured")
      ->capture_default_str();
  app.add_option("--precision", raw.options.goal.precision,
                 "Repeat until the 95 % confidence interval is within this fraction of the median")
      ->check(CLI::Range(0.0001, 1.0))
      ->capture_default_str();
  app.add_option("--time", raw.options.goal.seconds, "Maximum seconds per point, behind the first calls")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--total", raw.options.total, "Maximum seconds for all points together, instead of --time")
      ->check(CLI::PositiveNumber);
  app.add_option("--least", raw.options.goal.least, "Minimum repeats per point")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--within", raw.options.goal.within,
                 "Drop algorithms that take more than this many times the fastest, after two calls")
      ->check(CLI::Range(1.0, 1e6));
  app.add_option("--most", raw.options.goal.most, "Maximum repeats per point")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--pause", raw.options.pause, "Minimum pause before each repeat in seconds")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--warm", raw.options.warm, "Reuse the same buffers, so that they stay in the cache");
  app.add_flag("--control", raw.options.control, "Measure native a second time as control; its ratio should be 1");
  app.add_option("--delay", raw.options.delay,
                 "Measure native with this fraction of its time added, to test the benchmark")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--seed", raw.options.seed, "Seed of the random order")->capture_default_str();
  app.add_option("--label", raw.options.label, "Name of this run in plots and comparisons");
  app.add_option("--json", raw.options.json,
                 "Write a JSON report to this file; -: to standard output, instead of the table");
  app.add_option("--csv", raw.options.csv, "Write CSV, a line per point, to this file; -: to standard output");
  app.add_option("--plot", raw.options.plot,
                 "Plot times and, beside them, ratios to native against sizes to this SVG file");
  app.add_option("--table", raw.options.table,
                 "Add rules to this tuning table, for quadrille run --table; rules of other collectives, ranks and "
                 "nodes are kept");
  app.add_flag("--remember", raw.options.remember,
               "Remember what is fastest, for all programs with the drop-in; quadrille knows shows it");
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
  app.callback([raw] {});  // keeps them alive as long as the command
}

BenchOptions parse_bench_options(int argc, const char* const* argv) {
  RawOptions raw;
  BenchOptions& options = raw.options;
  CLI::App app{
      "Measure collectives against the MPI's own. Start it under mpirun: mpirun -n 4 quadrille bench allreduce"};
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
    const std::string unknown = status == 0 ? "" : arguments::unknown_word(app, {argv + 1, argv + argc});
    if (!unknown.empty()) throw ParseExit{2, unknown + "\n"};
    throw ParseExit{status == 0 ? 0 : 2, status == 0 ? out.str() : err.str()};
  } catch (const std::invalid_argument& error) {
    throw ParseExit{2, fmt::format("quadrille bench: {}\n", error.what())};
  }
  return options;
}

}  // namespace quadrille::measure
