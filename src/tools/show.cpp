#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <map>
#include <stdexcept>

#include "draw/draw.hpp"
#include "tools/choice.hpp"
#include "tools/commands.hpp"
#include "verify/execution.hpp"
#include "verify/proof.hpp"

namespace quadrille::tools {

namespace {

struct Wish {
  std::string collective;
  std::string algorithm;
  Problem problem;
  std::int64_t count = -1;
  std::string svg;
  Rank rank = -1;
  bool json = false;
};

// Enough data that every share and segment has some.
void choose_sizes(Wish& wish, const Algorithm& algorithm) {
  Problem& problem = wish.problem;
  problem.count = wish.count >= 0 ? wish.count : problem.ranks;
  if (algorithm.segmented && problem.segment == 0) problem.segment = std::max<std::int64_t>(1, (problem.count + 3) / 4);
  if (problem.root >= problem.ranks)
    throw std::invalid_argument(fmt::format("--root: there is no rank {} of {}", problem.root, problem.ranks));
  if (wish.rank >= problem.ranks)
    throw std::invalid_argument(fmt::format("--rank: there is no rank {} of {}", wish.rank, problem.ranks));
}

void print_steps(const verify::Execution& execution) {
  std::map<std::int64_t, std::vector<std::string>> steps;
  for (const verify::Matched& message : execution.messages) {
    steps[message.step].push_back(fmt::format("{}->{}", message.from, message.to));
  }
  for (const auto& [step, messages] : steps) fmt::print("step {:>3}: {}\n", step, fmt::join(messages, "  "));
}

std::string counted(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

void show(Wish wish) {
  const Algorithm& algorithm = *chosen({wish.collective}, wish.algorithm).front();
  choose_sizes(wish, algorithm);
  const Problem& problem = wish.problem;
  if (wish.rank >= 0) {
    Problem own = problem;
    own.rank = wish.rank;
    const Schedule schedule = build(algorithm, own);
    fmt::print("{}\n", wish.json ? to_json(schedule) : to_text(schedule));
    return;
  }
  const auto sizes = [&](Rank, Rank) { return problem.count; };
  const verify::Subject subject = verify::subject_of(algorithm, problem, sizes);
  verify::Expressions expressions(subject.commutative);
  const verify::Execution execution = verify::execute(subject, expressions);
  if (!execution.fault.empty()) throw std::runtime_error(execution.fault);
  const std::string heading = fmt::format("{}, {}", name(algorithm.collective), algorithm.name);
  const std::string subheading = fmt::format("{}, {}, {}", counted(static_cast<std::size_t>(problem.ranks), "rank"),
                                             counted(static_cast<std::size_t>(execution.steps), "step"),
                                             counted(execution.messages.size(), "message"));
  if (wish.svg.empty()) {
    fmt::print("{}: {}\n", heading, subheading);
    print_steps(execution);
    return;
  }
  std::ofstream file(wish.svg);
  file << draw::svg(subject, {heading, subheading});
  file.close();
  if (!file) throw std::runtime_error(fmt::format("can't write {}", wish.svg));
}

}  // namespace

void add_show(CLI::App& app, Exit&) {
  auto* command = app.add_subcommand("show", "Show an algorithm: ranks across, steps down, messages as arrows");
  static Wish wish;
  command->add_option("COLLECTIVE", wish.collective)->required();
  command->add_option("--algorithm", wish.algorithm, "One of those that 'quadrille list COLLECTIVE' names")->required();
  command->add_option("--ranks", wish.problem.ranks, "How many ranks")->required()->check(CLI::Range(1, 1 << 20));
  command->add_option("--root", wish.problem.root, "The root, where there is one")->check(CLI::NonNegativeNumber);
  command->add_option("--count", wish.count, "Units of data a rank; default: as many as ranks")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--segment", wish.problem.segment,
                   "Units of a segment, for algorithms that pipeline; default: 4 segments")
      ->check(CLI::PositiveNumber);
  command->add_flag("--in-place", wish.problem.in_place, "The input is the output");
  command->add_option("--svg", wish.svg, "Draw it into this file");
  auto* rank = command->add_option("--rank", wish.rank, "Print the schedule of this rank, operation by operation")
                   ->check(CLI::NonNegativeNumber);
  command->add_flag("--json", wish.json, "With --rank: as JSON")->needs(rank);
  command->callback([] { show(wish); });
}

}  // namespace quadrille::tools
