#include "tools/list.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "text/wrap.hpp"
#include "tools/commands.hpp"
#include "tools/option_values.hpp"
#include "tools/selection.hpp"

namespace quadrille::tools {

namespace {

void print_as_json(const std::vector<const Algorithm*>& algorithms) {
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
  constexpr const char* line = "{:<21}{:<24}{}\n";
  constexpr std::size_t width = 100 - 21 - 24;
  fmt::print(line, "collective", "algorithm", "steps; (restrictions)");
  for (const Algorithm* one : algorithms) {
    std::vector<std::string_view> notes = descriptions(one->restrictions);
    if (!one->offered) notes.emplace_back("only by name");
    std::vector<std::string> lines = text::wrapped(one->steps, width);
    const std::string all_notes = notes.empty() ? "" : fmt::format("({})", fmt::join(notes, ", "));
    for (std::string& note : text::wrapped(all_notes, width)) lines.push_back(std::move(note));
    fmt::print(line, name(one->collective), one->name, lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i) fmt::print(line, "", "", lines[i]);
  }
  fmt::print(
      "\np ranks, m segments, width k. --json adds the cost (n bytes, latency a, time b to send and c to\n"
      "reduce a byte), scratch, summary and paper. What runs only by name is what MPI libraries do, or is\n"
      "for machines that prices don't know: it is never chosen.\n");
}

}  // namespace

void print_algorithms(const std::vector<const Algorithm*>& algorithms, bool json) {
  json ? print_as_json(algorithms) : print_table(algorithms);
}

void add_list(CLI::App& app, Exit&) {
  struct Arguments {
    std::vector<std::string> collectives;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(
      "list", "List the algorithms with their steps and restrictions; with --json also cost, scratch and paper");
  command->add_option("COLLECTIVE", arguments->collectives, "Only these collectives")->transform(collective_names());
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback(
      [arguments] { print_algorithms(selected_algorithms(arguments->collectives, {}), arguments->json); });
}

}  // namespace quadrille::tools
