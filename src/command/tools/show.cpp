#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "files/replace.hpp"
#include "tools/commands.hpp"
#include "tools/illustration.hpp"
#include "tools/list.hpp"
#include "tools/option_values.hpp"
#include "tools/selection.hpp"
#include "walk/walk.hpp"

namespace quadrille::tools {

namespace {

struct ShowArguments {
  std::string collective;
  std::optional<std::string> algorithm;
  Problem problem = {.ranks = 8};
  std::optional<Rank> root;
  std::optional<std::int64_t> count;
  std::optional<std::int64_t> segment;
  std::optional<Rank> per_node;
  std::optional<std::string> svg;
  std::optional<std::string> html;
  std::optional<Rank> rank;
  bool json = false;
};

// More would not be readable.
constexpr std::int64_t most_messages = 100'000;

void refuse(bool condition, const std::string& why) {
  if (condition) throw std::invalid_argument(why);
}

// The problem that the arguments describe.
Problem problem_for(const ShowArguments& arguments, const Algorithm& algorithm) {
  const Traits of = traits(algorithm.collective);
  Problem problem = arguments.problem;
  problem.commutative = !problem.fixed_order;
  refuse(arguments.root && !of.rooted, fmt::format("--root: {} has no root", arguments.collective));
  refuse(arguments.count && !of.moves_data(), fmt::format("--count: {} moves no data", arguments.collective));
  refuse(arguments.segment && !algorithm.segmented, fmt::format("--segment: {} is not pipelined", algorithm.name));
  problem.root = arguments.root.value_or(0);
  problem.width = variant_named(algorithm.collective, *arguments.algorithm).width;
  refuse(arguments.per_node && !algorithm.hierarchical,
         fmt::format("--per-node: {} is not hierarchical", algorithm.name));
  problem = with_data(algorithm, problem, arguments.count, arguments.segment, arguments.per_node);
  refuse(problem.root >= problem.ranks, fmt::format("--root: there is no rank {} of {}", problem.root, problem.ranks));
  refuse(arguments.rank && *arguments.rank >= problem.ranks,
         fmt::format("--rank: there is no rank {} of {}", arguments.rank.value_or(0), problem.ranks));
  if (const std::string why = refusal(algorithm, problem); !why.empty()) throw std::invalid_argument(why);
  return problem;
}

// Of all ranks, estimated from rank 0's.
std::int64_t operations_of(const Algorithm& algorithm, const Problem& problem) {
  const Schedule schedule = build(algorithm, problem);
  std::int64_t operations = 0;
  for (const Operation& operation : schedule.operations) {
    operations += operation.loop < 0 ? 1 : schedule.loops[static_cast<std::size_t>(operation.loop)].iterations;
  }
  return operations * problem.ranks;
}

std::string page_of(const Algorithm& algorithm, const Problem& problem, const Illustration& all) {
  const walk::Walk walk = walk::walk_of(all.subject);
  walk::Heading heading{.title = all.title.heading, .facts = {}, .paragraphs = {}, .footer = "By quadrille show."};
  if (traits(algorithm.collective).rooted) heading.facts.push_back(fmt::format("root {}", problem.root));
  if (problem.in_place) heading.facts.emplace_back("in place");
  heading.paragraphs.push_back(fmt::format("{}{}", algorithm.summary, algorithm.summary.ends_with('.') ? "" : "."));
  heading.paragraphs.push_back(
      fmt::format("Steps: {}. Cost: {}. Scratch: {}.", algorithm.steps, algorithm.cost, algorithm.scratch));
  if (!algorithm.paper.empty()) heading.paragraphs.push_back(fmt::format("Paper: {}", algorithm.paper));
  if (problem.fixed_order) heading.facts.emplace_back("in rank order, left to right");
  return walk::to_html(walk, heading);
}

void print_schedule(const ShowArguments& arguments, const Algorithm& algorithm, Problem problem) {
  problem.rank = *arguments.rank;
  const Schedule schedule = build(algorithm, problem);
  if (arguments.json) {
    fmt::print("{}\n", to_json(schedule));
  } else {
    fmt::print("{}, {}: {}", name(algorithm.collective), algorithm.name, to_text(schedule));
  }
}

void print_messages_as_json(const Algorithm& algorithm, const Illustration& all) {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  for (const verify::Matched& one : all.messages) {
    messages.push_back({{"step", one.step}, {"from", one.from}, {"to", one.to}, {"units", one.units}});
  }
  const nlohmann::ordered_json shown = {{"collective", name(algorithm.collective)},
                                        {"algorithm", algorithm.name},
                                        {"ranks", all.subject.schedules.size()},
                                        {"messages", std::move(messages)}};
  fmt::print("{}\n", shown.dump(2));
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

void print_choices(const ShowArguments& arguments) {
  const auto choices = selected_algorithms({arguments.collective}, {});
  print_algorithms(choices, arguments.json);
  if (arguments.json) return;
  fmt::print("Look at one: quadrille show {} --algorithm {} --ranks {}\n", arguments.collective, choices.front()->name,
             arguments.problem.ranks);
}

void show(const ShowArguments& arguments) {
  if (!arguments.algorithm) return print_choices(arguments);
  const std::string bare_name = arguments.algorithm->substr(0, arguments.algorithm->find(':'));
  const Algorithm& algorithm = *selected_algorithms({arguments.collective}, bare_name).front();
  const Problem problem = problem_for(arguments, algorithm);
  if (arguments.rank) return print_schedule(arguments, algorithm, problem);
  const auto predicted = predict(algorithm, problem);
  const std::int64_t messages = predicted ? predicted->messages : operations_of(algorithm, problem);
  refuse(messages > most_messages,
         fmt::format("{} messages are too many to show: print one rank's schedule with --rank", messages));
  const Illustration all = illustrate(algorithm, problem);
  if (arguments.svg) return files::replace_file(*arguments.svg, draw::svg(all.subject, all.title));
  if (arguments.html) return files::replace_file(*arguments.html, page_of(algorithm, problem, all));
  if (arguments.json) return print_messages_as_json(algorithm, all);
  fmt::print("{}: {}\n", all.title.heading, all.title.subheading);
  print_steps(all.messages);
}

}  // namespace

void add_show(CLI::App& app, Exit&) {
  constexpr Rank most_ranks = 1 << 20;
  const auto arguments = std::make_shared<ShowArguments>();
  auto* command = app.add_subcommand(
      "show", "Print or draw the messages of an algorithm, step by step; without --algorithm, list those there are");
  command->add_option("COLLECTIVE", arguments->collective, "The collective")->required()->transform(collective_names());
  command->add_option("--algorithm", arguments->algorithm,
                      "As listed by 'quadrille list COLLECTIVE'; with a width, as in bruck:4");
  command->add_option("--ranks", arguments->problem.ranks, "Number of ranks; default: 8")
      ->check(CLI::Range(1, most_ranks));
  command->add_option("--root", arguments->root, "Root of a rooted collective; default: 0")
      ->check(CLI::Range(0, most_ranks));
  command
      ->add_option("--count", arguments->count,
                   "Bytes or elements per rank, or per block; default: the number of ranks, or 1 per block")
      ->transform(sizes_in_bytes())
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 50));
  command
      ->add_option("--segment", arguments->segment,
                   "Bytes or elements per segment of a pipelined algorithm; default: 4 segments")
      ->transform(sizes_in_bytes())
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 50));
  command->add_option("--per-node", arguments->per_node, "Ranks per node, for hierarchical algorithms; default: 4")
      ->check(CLI::Range(Rank{1}, most_ranks));
  command->add_flag("--in-place", arguments->problem.in_place, "As with MPI_IN_PLACE");
  command->add_flag("--fixed-order", arguments->problem.fixed_order, "Reduce in rank order, left to right");
  auto* svg = command->add_option("--svg", arguments->svg, "Write a drawing to this SVG file");
  auto* html = command->add_option("--html", arguments->html,
                                   "Write a page to this file, to step through what is sent and what each rank holds");
  command->add_option("--rank", arguments->rank, "Print the schedule of this rank")
      ->check(CLI::Range(0, most_ranks))
      ->excludes(svg)
      ->excludes(html);
  command->add_flag("--json", arguments->json, "Print JSON")->excludes(svg)->excludes(html);
  command->callback([arguments] { show(*arguments); });
}

}  // namespace quadrille::tools
