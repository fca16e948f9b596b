#include "tools/predict.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "algorithms/naming.hpp"
#include "cost/machine_file.hpp"
#include "draw/mosaic.hpp"
#include "files/replace.hpp"
#include "forecast/forecast.hpp"
#include "knowledge/library.hpp"
#include "measure/bench_options.hpp"
#include "settings/machine.hpp"
#include "text/quantities.hpp"
#include "tools/commands.hpp"
#include "tools/option_values.hpp"

namespace quadrille::tools {

std::string text_of(const forecast::Seconds& time) {
  return (time.method == forecast::Method::price ? "~" : "") + text::seconds(time.seconds);
}

namespace {

struct PredictArguments {
  std::string collective;
  std::string trace;
  std::string ranks;
  std::string sizes = "8-1MiB*8";
  int per_node = 0;
  int rack_nodes = 0;
  std::string machine;
  std::string policy;
  std::string algorithm;
  std::int64_t most_messages = forecast::Options().most_messages;
  int threads = 0;
  bool all = false;
  bool json = false;
  std::string svg;
};

std::vector<forecast::Question> questions(const PredictArguments& arguments) {
  const Collective collective = require_collective(arguments.collective);
  if (!sizes_are_known(collective)) {
    throw std::invalid_argument(
        fmt::format("{} has no time of its own: each rank has sizes of its own", arguments.collective));
  }
  std::vector<std::int64_t> sizes = measure::parse_sizes(arguments.sizes);
  if (!traits(collective).moves_data()) sizes = {0};
  std::vector<forecast::Question> asked;
  for (const std::int64_t ranks : measure::parse_sizes(arguments.ranks)) {
    if (ranks < 2 || ranks > std::numeric_limits<Rank>::max() / 2) {
      throw std::invalid_argument("--ranks: expected numbers of at least 2, such as 64,4096 or 16-1048576*4");
    }
    for (const std::int64_t bytes : sizes) asked.push_back({collective, static_cast<Rank>(ranks), bytes});
  }
  return asked;
}

// That of --algorithm; empty: all.
Variant only_variant(const PredictArguments& arguments) {
  if (arguments.algorithm.empty()) return {};
  if (arguments.collective.empty())
    throw std::invalid_argument("--algorithm: a trace has collectives of several kinds");
  if (!arguments.policy.empty()) throw std::invalid_argument("--algorithm, --policy: expected one of them");
  if (!arguments.svg.empty())
    throw std::invalid_argument("--svg draws which algorithm is the fastest, --algorithm names one");
  const Collective collective = require_collective(arguments.collective);
  const Variant variant = variant_named(collective, arguments.algorithm);
  if (!variant || variant.width < 0) {
    throw std::invalid_argument(fmt::format("--algorithm: {}", no_such_algorithm(collective, arguments.algorithm)));
  }
  return variant;
}

// Of the quickest.
const forecast::Seconds& best_time(const forecast::Point& point) {
  return point.algorithms.front().time;
}

std::string size_of(const forecast::Question& asked) {
  return traits(asked.collective).moves_data() ? text::bytes(asked.bytes) : "";
}

void print_all(const forecast::Point& point) {
  fmt::print("\n{} ranks on {} node{}{}{}\n", text::count(point.asked.ranks), text::count(point.nodes),
             point.nodes == 1 ? "" : "s", size_of(point.asked).empty() ? "" : ", ", size_of(point.asked));
  const double best = best_time(point).seconds;
  for (const forecast::Estimate& one : point.algorithms) {
    fmt::print("  {:<36}{:>12}  {:.2f}\n", name_of(one.variant), text_of(one.time), one.time.seconds / best);
  }
  for (const forecast::PolicyEstimate& one : point.policies) {
    fmt::print("  {:<36}{:>12}  {}\n", one.policy + ": " + one.choice, one.time ? text_of(*one.time) : "unknown",
               one.time ? fmt::format("{:.2f}", one.time->seconds / best) : "");
  }
}

void print_winners(const std::vector<forecast::Point>& points, bool is_only) {
  const std::string_view which = is_only ? "algorithm" : "fastest";
  fmt::print("\n{:>10}{:>10}  {:<24}{:>12}", "ranks", "size", which, "time");
  for (const forecast::PolicyEstimate& one : points.front().policies) fmt::print("  {:<28}", one.policy);
  fmt::print("\n");
  for (const forecast::Point& point : points) {
    const forecast::Estimate& best = point.algorithms.front();
    fmt::print("{:>10}{:>10}  {:<24}{:>12}", text::count(point.asked.ranks), size_of(point.asked),
               name_of(best.variant), text_of(best.time));
    for (const forecast::PolicyEstimate& one : point.policies) {
      const std::string times = one.time ? fmt::format(" {:.2f}", one.time->seconds / best.time.seconds) : "";
      fmt::print("  {:<28}", one.choice + times);
    }
    fmt::print("\n");
  }
}

void print_json(const std::vector<forecast::Point>& points, const std::string& machine) {
  nlohmann::ordered_json json = {{"format", "quadrille prediction 1"},
                                 {"collective", name(points.front().asked.collective)},
                                 {"machine", machine},
                                 {"points", nlohmann::ordered_json::array()}};
  const auto timed = [](nlohmann::ordered_json what, const forecast::Seconds& time) {
    what["seconds"] = time.seconds;
    what["by"] = name(time.method);
    return what;
  };
  for (const forecast::Point& point : points) {
    nlohmann::ordered_json one = {{"ranks", point.asked.ranks}, {"nodes", point.nodes}, {"racks", point.racks}};
    one["bytes"] = point.asked.bytes;
    for (const char* list : {"algorithms", "policies"}) one[list] = nlohmann::ordered_json::array();
    for (const forecast::Estimate& estimate : point.algorithms) {
      one["algorithms"].push_back(
          timed({{"algorithm", name_of(estimate.variant)}, {"segment", estimate.variant.segment}}, estimate.time));
    }
    for (const forecast::PolicyEstimate& estimate : point.policies) {
      const nlohmann::ordered_json policy = {{"policy", estimate.policy}, {"algorithm", estimate.choice}};
      one["policies"].push_back(estimate.time ? timed(policy, *estimate.time) : policy);
    }
    json["points"].push_back(std::move(one));
  }
  fmt::print("{}\n", json.dump(2));
}

draw::Mosaic mosaic_of(const std::vector<forecast::Point>& points, const forecast::Place& place) {
  draw::Mosaic picture;
  picture.heading = fmt::format("{}: the fastest algorithm", name(points.front().asked.collective));
  picture.subheading = fmt::format("predicted; {} rank{} a node", place.per_node, place.per_node == 1 ? "" : "s");
  if (place.rack_nodes > 0) picture.subheading += fmt::format(", {} nodes a rack", text::count(place.rack_nodes));
  if (std::any_of(points.begin(), points.end(),
                  [](const forecast::Point& point) { return best_time(point).method == forecast::Method::price; }))
    picture.subheading += "; ~ by price, the others simulated";
  picture.columns_title = "bytes of a rank";
  picture.rows_title = "ranks";
  Rank ranks = 0;
  for (const forecast::Point& point : points) {
    if (std::exchange(ranks, point.asked.ranks) != point.asked.ranks) {
      picture.rows.push_back(text::count(ranks));
      picture.cells.emplace_back();
    }
    if (picture.rows.size() == 1) picture.columns.push_back(size_of(point.asked));
    const forecast::Estimate& best = point.algorithms.front();
    picture.cells.back().push_back({name_of(best.variant), text_of(best.time)});
  }
  return picture;
}

int predict(const PredictArguments& arguments) {
  if (arguments.trace.empty() == arguments.collective.empty() || arguments.trace.empty() == arguments.ranks.empty()) {
    throw std::invalid_argument("expected a collective and --ranks, or --trace alone");
  }
  if (!arguments.trace.empty() && !arguments.svg.empty()) {
    throw std::invalid_argument("--svg: there is no drawing of a trace's times");
  }
  if (arguments.per_node < 0 || arguments.rack_nodes < 0 || arguments.most_messages < 0 || arguments.threads < 0) {
    throw std::invalid_argument("--per-node, --rack-nodes, --simulate, --threads: expected numbers of at least 0");
  }
  cost::Machine machine =
      arguments.machine.empty() ? machine_of_any_mpi("") : cost::read_machine(arguments.machine, built_in_here().model);
  if (!arguments.machine.empty()) machine.from = fmt::format("{} ({})", arguments.machine, machine.from);
  if (!arguments.policy.empty()) knowledge::library_with_policy(arguments.policy);
  Settings settings = check_settings(setting);
  settings.model = machine.model;
  const bool own_cores = machine.model.cores > 0 && !machine.model.one_machine;
  const int usual = own_cores ? machine.model.cores : 1;
  const forecast::Options options{
      .place = {.per_node = arguments.per_node > 0 ? arguments.per_node : usual, .rack_nodes = arguments.rack_nodes},
      .most_messages = arguments.most_messages,
      .policy = arguments.policy,
      .only = only_variant(arguments)};
  if (!arguments.trace.empty()) {
    predict_trace(arguments.trace, settings, machine.from, options, arguments.all, arguments.json);
    return 0;
  }
  const std::vector<forecast::Question> asked = questions(arguments);
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const std::vector<forecast::Point> points =
      forecast::estimate(asked, settings, options, arguments.threads > 0 ? arguments.threads : cores);
  if (!arguments.svg.empty()) files::replace_file(arguments.svg, draw::mosaic(mosaic_of(points, options.place)));
  if (arguments.json) {
    print_json(points, machine.from);
    return 0;
  }
  fmt::print("{} by {}\n", arguments.collective, machine.from);
  fmt::print("{} rank{} a node; ~ by price, the others simulated\n", options.place.per_node,
             options.place.per_node == 1 ? "" : "s");
  if (arguments.all || points.size() == 1) {
    for (const forecast::Point& point : points) print_all(point);
  } else {
    print_winners(points, !arguments.algorithm.empty());
  }
  return 0;
}

}  // namespace

void add_predict(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<PredictArguments>();
  auto* command = app.add_subcommand(
      "predict", "Predict how long a collective takes by each algorithm, on any number of ranks of a machine");
  command->footer("Example: quadrille predict allreduce --ranks 64-1048576*4 --per-node 32 --svg winners.svg");
  command->add_option("COLLECTIVE", arguments->collective, "The collective")->transform(collective_names());
  command->add_option("--ranks", arguments->ranks, "Numbers of ranks, as 64,4096 or 16-4096*4");
  command->add_option("--trace", arguments->trace, "Predict all collectives of a traced program: see quadrille trace");
  command->add_option("--sizes", arguments->sizes, "Bytes of a rank's own data, as in bench")->capture_default_str();
  command->add_option("--per-node", arguments->per_node,
                      "Ranks of a node; default: the cores that the machine file has, or 1");
  command->add_option("--rack-nodes", arguments->rack_nodes,
                      "Nodes of a rack, or of a site; default: all nodes are in one");
  command->add_option("--machine", arguments->machine, "Machine file; default: what quadrille probe wrote here");
  command->add_option(
      "--policy", arguments->policy,
      fmt::format("Only what this policy chooses: {}; default: all but those of history", knowledge::policy_names()));
  command->add_option("--algorithm", arguments->algorithm,
                      "Only this algorithm, as quadrille list names it, with a width as bruck:4; default: all");
  command
      ->add_option("--simulate", arguments->most_messages,
                   "Simulate where none of the best algorithms, or the one that is named, sends more messages, else "
                   "compute prices")
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads; default: one for each core");
  command->add_flag("--all", arguments->all, "Show all algorithms of every point, or all kinds of calls of a trace");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->add_option("--svg", arguments->svg, "Draw which algorithm is the fastest, by ranks and bytes");
  command->callback([arguments, &exit] { exit = predict(*arguments); });
}

}  // namespace quadrille::tools
