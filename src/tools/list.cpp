#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tools/choice.hpp"
#include "tools/commands.hpp"

namespace quadrille::tools {

namespace {

void print_json(const std::vector<const Algorithm*>& algorithms) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Algorithm* one : algorithms) {
    list.push_back({{"collective", name(one->collective)},
                    {"algorithm", one->name},
                    {"summary", one->summary},
                    {"steps", one->steps},
                    {"cost", one->cost},
                    {"scratch", one->scratch},
                    {"restrictions", to_text(one->restrictions)},
                    {"logarithmic", one->logarithmic},
                    {"segmented", one->segmented},
                    {"paper", one->paper}});
  }
  fmt::print("{}\n", list.dump(2));
}

void print_table(const std::vector<const Algorithm*>& algorithms) {
  fmt::print("{:<12}{:<21}{:<49}{}\n", "collective", "algorithm", "steps", "restrictions");
  for (const Algorithm* one : algorithms) {
    fmt::print("{:<12}{:<21}{:<49}{}\n", name(one->collective), one->name, one->steps, to_text(one->restrictions));
  }
  fmt::print("\np ranks, m segments. --json has costs, scratch and papers.\n");
}

}  // namespace

void add_list(CLI::App& app, Exit&) {
  auto* command = app.add_subcommand("list", "List the algorithms, with their steps, cost and restrictions");
  static std::vector<std::string> collectives;
  static bool json = false;
  command->add_option("COLLECTIVE", collectives, "Only these collectives");
  command->add_flag("--json", json, "As a list of objects, for programs");
  command->callback([] {
    const auto algorithms = chosen(collectives, "");
    json ? print_json(algorithms) : print_table(algorithms);
  });
}

}  // namespace quadrille::tools
