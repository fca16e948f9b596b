#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/commands.hpp"
#include "tools/selection.hpp"

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
                    {"restrictions", descriptions(one->restrictions)},
                    {"offered", one->offered},
                    {"logarithmic", one->logarithmic},
                    {"segmented", one->segmented},
                    {"fixed_order", one->fixed_order},
                    {"width", one->width},
                    {"paper", one->paper}});
  }
  fmt::print("{}\n", list.dump(2));
}

void print_table(const std::vector<const Algorithm*>& algorithms) {
  constexpr const char* line = "{:<22}{:<24}{:<76}{}\n";
  fmt::print(line, "collective", "algorithm", "steps", "restrictions");
  for (const Algorithm* one : algorithms) {
    std::vector<std::string_view> notes = descriptions(one->restrictions);
    if (!one->offered) notes.emplace_back("only by name");
    fmt::print(line, name(one->collective), one->name, one->steps, fmt::join(notes, ", "));
  }
  fmt::print(
      "\np ranks, m segments, width k. --json adds the cost (n bytes, latency a, time b to send and c to reduce a "
      "byte),\n"
      "scratch, summary and paper. What runs only by name is what an MPI library does: it is never chosen.\n");
}

}  // namespace

void add_list(CLI::App& app, Exit&) {
  struct Arguments {
    std::vector<std::string> collectives;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(
      "list", "List the algorithms with their steps and restrictions; with --json also cost, scratch and paper");
  command->add_option("COLLECTIVE", arguments->collectives, "Only these collectives");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments] {
    const auto algorithms = selected_algorithms(arguments->collectives, {});
    arguments->json ? print_json(algorithms) : print_table(algorithms);
  });
}

}  // namespace quadrille::tools
