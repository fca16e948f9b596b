#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tools/choice.hpp"
#include "tools/commands.hpp"
#include "tools/shown.hpp"

namespace quadrille::tools {

namespace {

struct Wish {
  std::string collective;
  std::string algorithm;
  Problem problem;
  std::optional<Rank> root;
  std::optional<std::int64_t> count;
  std::optional<std::int64_t> segment;
  std::optional<Rank> per_node;
  std::optional<std::string> svg;
  std::optional<Rank> rank;
  bool json = false;
};

// More messages than anybody would read.
constexpr std::int64_t most_messages = 100'000;

void refuse(bool condition, const std::string& why) {
  if (condition) throw std::invalid_argument(why);
}

// The problem as wished.
Problem problem_for(const Wish& wish, const Algorithm& algorithm) {
  const Traits of = traits(algorithm.collective);
  Problem problem = wish.problem;
  problem.commutative = !problem.fixed_order;
  refuse(wish.root && !of.rooted, fmt::format("--root: {} has no root", wish.collective));
  refuse(wish.count && !of.moves_data(), fmt::format("--count: {} moves no data", wish.collective));
  refuse(wish.segment && !algorithm.segmented, fmt::format("--segment: {} does not cut its data", algorithm.name));
  problem.root = wish.root.value_or(0);
  problem.width = choice_of(algorithm.collective, wish.algorithm).width;
  refuse(wish.per_node && !algorithm.hierarchical, fmt::format("--per-node: {} heeds no nodes", algorithm.name));
  problem = with_data(algorithm, problem, wish.count, wish.segment, wish.per_node);
  refuse(problem.root >= problem.ranks, fmt::format("--root: there is no rank {} of {}", problem.root, problem.ranks));
  refuse(wish.rank && *wish.rank >= problem.ranks,
         fmt::format("--rank: there is no rank {} of {}", wish.rank.value_or(0), problem.ranks));
  if (const std::string why = refusal(algorithm, problem); !why.empty()) throw std::invalid_argument(why);
  return problem;
}

// Of all ranks, as far as rank 0's tell.
std::int64_t operations_of(const Algorithm& algorithm, const Problem& problem) {
  const Schedule schedule = build(algorithm, problem);
  std::int64_t operations = 0;
  for (const Operation& operation : schedule.operations) {
    operations += operation.loop < 0 ? 1 : schedule.loops[static_cast<std::size_t>(operation.loop)].iterations;
  }
  return operations * problem.ranks;
}

void print_schedule(const Wish& wish, const Algorithm& algorithm, Problem problem) {
  problem.rank = *wish.rank;
  const Schedule schedule = build(algorithm, problem);
  if (wish.json) {
    fmt::print("{}\n", to_json(schedule));
  } else {
    fmt::print("{}, {}: {}", name(algorithm.collective), algorithm.name, to_text(schedule));
  }
}

void print_steps(const std::vector<verify::Matched>& matched) {
  std::map<std::int64_t, std::vector<std::pair<Rank, Rank>>> steps;
  for (const verify::Matched& message : matched) steps[message.step].push_back({message.from, message.to});
  for (auto& [step, messages] : steps) {
    std::sort(messages.begin(), messages.end());
    fmt::print("step {:>3}:", step);
    for (const auto& [from, to] : messages) fmt::print("  {}->{}", from, to);
    fmt::print("\n");
  }
}

void show(const Wish& wish) {
  const std::string bare_name = wish.algorithm.substr(0, wish.algorithm.find(':'));
  const Algorithm& algorithm = *chosen({wish.collective}, bare_name).front();
  const Problem problem = problem_for(wish, algorithm);
  if (wish.rank) return print_schedule(wish, algorithm, problem);
  const auto predicted = predict(algorithm, problem);
  const std::int64_t messages = predicted ? predicted->messages : operations_of(algorithm, problem);
  refuse(messages > most_messages,
         fmt::format("{} messages are too many to show; ask for one rank's schedule with --rank", messages));
  const Shown all = shown(algorithm, problem);
  if (wish.svg) return write_file(*wish.svg, draw::svg(all.subject, all.title));
  fmt::print("{}: {}\n", all.title.heading, all.title.subheading);
  print_steps(all.messages);
}

}  // namespace

void add_show(CLI::App& app, Exit&) {
  constexpr Rank most_ranks = 1 << 20;
  const auto wish = std::make_shared<Wish>();
  auto* command = app.add_subcommand("show", "Show an algorithm: ranks across, steps down, messages as arrows");
  command->add_option("COLLECTIVE", wish->collective)->required();
  command
      ->add_option("--algorithm", wish->algorithm,
                   "One of those that 'quadrille list COLLECTIVE' names; a width goes behind it, as in bruck:4")
      ->required();
  command->add_option("--ranks", wish->problem.ranks, "How many ranks")->required()->check(CLI::Range(1, most_ranks));
  command->add_option("--root", wish->root, "The root, where there is one")->check(CLI::Range(0, most_ranks));
  command
      ->add_option(
          "--count", wish->count,
          "Bytes or elements a rank, or of a block where there is one for each; default: as many as ranks, or 1")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 50));
  command
      ->add_option("--segment", wish->segment,
                   "Bytes or elements of a segment, for algorithms that pipeline; default: 4 segments")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 50));
  command->add_option("--per-node", wish->per_node, "Ranks of a node, for hierarchical algorithms; default: 4")
      ->check(CLI::Range(Rank{1}, most_ranks));
  command->add_flag("--in-place", wish->problem.in_place, "The input is the output");
  command->add_flag("--fixed-order", wish->problem.fixed_order, "Of a reduction: fold from rank 0 up, left to right");
  auto* svg = command->add_option("--svg", wish->svg, "Draw it into this file");
  auto* rank = command->add_option("--rank", wish->rank, "Print the schedule of this rank, operation by operation")
                   ->check(CLI::Range(0, most_ranks))
                   ->excludes(svg);
  command->add_flag("--json", wish->json, "With --rank: as JSON")->needs(rank);
  command->callback([wish] { show(*wish); });
}

}  // namespace quadrille::tools
