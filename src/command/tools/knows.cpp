#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/collective.hpp"
#include "learn/memory.hpp"
#include "settings/machine.hpp"
#include "settings/settings.hpp"
#include "text/markup.hpp"
#include "text/quantities.hpp"
#include "tools/commands.hpp"
#include "tools/option_values.hpp"

namespace quadrille::tools {

namespace {

struct KnowsArguments {
  std::vector<std::string> collectives;
  std::string mpi;
  bool json = false;
  bool forget = false;
};

bool is_asked_for(const learn::Finding& one, const KnowsArguments& arguments) {
  const auto& names = arguments.collectives;
  return one.mpi.find(arguments.mpi) != std::string::npos &&
         (names.empty() || std::find(names.begin(), names.end(), name(one.rule.collective)) != names.end());
}

std::string sizes_of(const Rule& rule) {
  if (!traits(rule.collective).moves_data()) return "";
  if (rule.from == rule.to) return text::bytes(rule.from);
  if (rule.to == std::numeric_limits<std::int64_t>::max()) return fmt::format("from {}", text::bytes(rule.from));
  return fmt::format("{} to {}", text::bytes(rule.from), text::bytes(rule.to));
}

std::string best_of(const Rule& rule) {
  if (!rule.variant) return "the MPI's own";
  if (rule.variant.segment == 0) return name_of(rule.variant);
  return fmt::format("{}, {} segments", name_of(rule.variant), text::bytes(rule.variant.segment));
}

std::string seconds_of(double seconds) {
  return seconds > 0 ? text::seconds(seconds) : "";
}

std::string gain_of(const learn::Finding& one) {
  const bool known = one.rule.variant && one.seconds > 0 && one.native_seconds > 0;
  return known ? fmt::format("{:.2f}", one.native_seconds / one.seconds) : "";
}

void print_text(const std::vector<learn::Finding>& findings) {
  constexpr const char* line = "  {:<22}{:<22}{:<38}{:>10}{:>11}{:>14}{:>10}  {}\n";
  const learn::Finding* last = nullptr;
  for (const learn::Finding& one : findings) {
    if (!last || last->mpi != one.mpi || last->ranks != one.ranks || last->nodes != one.nodes) {
      fmt::print("{}{}, {} ranks on {} node{}\n", last ? "\n" : "", text::printable(one.mpi), one.ranks, one.nodes,
                 one.nodes == 1 ? "" : "s");
      fmt::print(line, "collective", "sizes", "fastest", "time", "MPI's own", "times faster", "calls", "when");
    }
    last = &one;
    fmt::print(line, name(one.rule.collective), sizes_of(one.rule), best_of(one.rule), seconds_of(one.seconds),
               seconds_of(one.native_seconds), gain_of(one), one.calls > 0 ? fmt::format("{}", one.calls) : "",
               one.when);
  }
}

void print_json(const std::vector<learn::Finding>& findings, const std::string& folder, const std::string& complaint) {
  nlohmann::ordered_json json = {{"folder", folder}, {"complaint", complaint}};
  json["findings"] = nlohmann::ordered_json::array();
  for (const learn::Finding& one : findings) {
    json["findings"].push_back({{"mpi", one.mpi},
                                {"ranks", one.ranks},
                                {"nodes", one.nodes},
                                {"collective", name(one.rule.collective)},
                                {"from", one.rule.from},
                                {"to", one.rule.to},
                                {"algorithm", name_of(one.rule)},
                                {"segment", one.rule.variant.segment},
                                {"seconds", one.seconds},
                                {"native_seconds", one.native_seconds},
                                {"calls", one.calls},
                                {"when", one.when}});
  }
  // A file may have any bytes as the name of an MPI.
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int forget(const std::string& folder, const KnowsArguments& arguments) {
  const bool all = arguments.collectives.empty() && arguments.mpi.empty();
  const auto asked_for = [&](const learn::Finding& one) { return is_asked_for(one, arguments); };
  const learn::Forgotten forgotten =
      learn::forget(folder, all ? std::function<bool(const learn::Finding&)>() : asked_for);
  if (!forgotten.complaint.empty()) throw std::invalid_argument(forgotten.complaint);
  fmt::print("{} finding{} forgotten, in {}\n", forgotten.findings, forgotten.findings == 1 ? "" : "s", folder);
  return 0;
}

int knows(const KnowsArguments& arguments) {
  const std::string folder = learned_folder_here();
  if (folder.empty()) {
    throw std::invalid_argument("there is no cache of this user, where it would be: set HOME or XDG_CACHE_HOME");
  }
  if (arguments.forget) return forget(folder, arguments);
  learn::Recalled recalled = learn::recall(folder, "");
  std::erase_if(recalled.findings, [&](const learn::Finding& one) { return !is_asked_for(one, arguments); });
  if (!recalled.complaint.empty()) fmt::print(stderr, "quadrille: {}\n", recalled.complaint);
  if (arguments.json) {
    print_json(recalled.findings, folder, recalled.complaint);
    return 0;
  }
  print_text(recalled.findings);
  if (recalled.findings.empty()) {
    fmt::print(
        "Nothing is remembered on machines like this one{}. Run programs with the drop-in, quadrille run -- mpirun -n "
        "4 "
        "./program, or measure: mpirun -n 4 quadrille tune. It will be in {}\n",
        recalled.files > 0 ? " of what you asked for" : "", folder);
  } else {
    fmt::print("\nThe files are in {}\n", folder);
  }
  if (read_settings(setting).learn == 0) {
    fmt::print("QUADRILLE_LEARN is 0: programs neither learn nor use what is remembered.\n");
  }
  return 0;
}

}  // namespace

void add_knows(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<KnowsArguments>();
  auto* command = app.add_subcommand("knows", "Show what is remembered to be fastest on this machine, or forget it");
  command->footer("Example: quadrille knows allreduce; quadrille knows --forget");
  command->add_option("COLLECTIVE", arguments->collectives, "Only these collectives")->transform(collective_names());
  command->add_option("--mpi", arguments->mpi, "Only MPIs with this in their name and version: MPICH, 'Open MPI'");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->add_flag("--forget", arguments->forget, "Forget it instead");
  command->callback([arguments, &exit] { exit = knows(*arguments); });
}

}  // namespace quadrille::tools
