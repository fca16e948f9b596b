#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "launch/command.hpp"
#include "launch/preload.hpp"
#include "settings/settings.hpp"
#include "tools/commands.hpp"
#include "tools/drop_in.hpp"
#include "tools/program_arguments.hpp"
#include "tools/report.hpp"
#include "tools/run_compare.hpp"

namespace quadrille::tools {

namespace {

struct RunArguments {
  Words words;
  std::optional<std::string> mpi;
  bool force = false;
  std::optional<std::string> only;
  std::optional<std::string> except;
  std::vector<std::string> algorithms;
  std::optional<std::string> table;
  std::optional<std::string> memory;
  std::optional<std::string> report;
  bool check = false;
  bool print = false;
  std::size_t compare = 0;  // runs each; 0: run it once, with the drop-in
  std::optional<std::string> json;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}{}", text.empty() ? "" : ",", word);
  return text;
}

std::optional<std::filesystem::path> page_of(const RunArguments& arguments) {
  if (!arguments.report || !is_page(*arguments.report)) return std::nullopt;
  return std::filesystem::absolute(*arguments.report);
}

std::optional<std::string> report_of_drop_in(const RunArguments& arguments) {
  if (!arguments.report || *arguments.report == "-") return arguments.report;
  if (const auto page = page_of(arguments)) return report_beside(*page).string();
  return std::filesystem::absolute(*arguments.report).string();
}

launch::Variables variables_of(const RunArguments& arguments, const std::filesystem::path& library,
                               launch::Launcher launcher) {
  launch::Variables list = preloading(library);
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) list.emplace_back(name, *value);
  };
  if (arguments.force) add("QUADRILLE_FORCE", arguments.only.value_or("all"));
  add("QUADRILLE_ONLY", arguments.only);
  add("QUADRILLE_EXCEPT", arguments.except);
  if (!arguments.algorithms.empty()) add("QUADRILLE_ALGORITHM", joined(arguments.algorithms));
  if (arguments.table) add("QUADRILLE_TABLE", std::filesystem::absolute(*arguments.table).string());
  add("QUADRILLE_MEMORY", arguments.memory);
  if (arguments.check) add("QUADRILLE_CHECK", "1");
  add("QUADRILLE_REPORT", report_of_drop_in(arguments));
  add_environment(list, launcher);
  return list;
}

// By the library's own words, before the program starts: the drop-in would only complain and pass all calls through.
Settings check_variables(const launch::Variables& list) {
  return check_settings([&](const char* name) -> std::string_view {
    const auto place = std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.first == name; });
    return place == list.end() || place->second.empty() ? setting(name) : std::string_view(place->second);
  });
}

// The program as it is, observed: the drop-in passes all calls through and times them.
launch::Variables observing(launch::Variables list, const std::filesystem::path& report) {
  std::erase_if(list, [](const auto& item) { return item.first == "QUADRILLE" || item.first == "QUADRILLE_REPORT"; });
  list.emplace_back("QUADRILLE", "off");
  list.emplace_back("QUADRILLE_REPORT", report.string());
  return list;
}

void require_difference(const Settings& settings) {
  if (settings.off) throw std::invalid_argument("--compare: QUADRILLE=off disables the drop-in: unset it");
  const char* const preloaded = std::getenv("LD_PRELOAD");
  if (preloaded && std::string_view(preloaded).find("libquadrille-dropin.so") != std::string_view::npos) {
    throw std::invalid_argument("--compare: LD_PRELOAD has a drop-in already: unset it");
  }
}

int run_program(const RunArguments& arguments) {
  const Words words = without_separator(arguments.words);
  const launch::Launcher launcher = require_launcher(
      words, ". With another one, set the variables yourself as described in docs/reference/environment.md");
  const std::filesystem::path library = drop_in_for(arguments.mpi, words, launcher);
  const launch::Variables variables = variables_of(arguments, library, launcher);
  const Settings settings = check_variables(variables);
  const Words command = launch::with_variables(launcher, words, variables);
  const auto page = page_of(arguments);
  if (arguments.compare > 0) require_difference(settings);
  if (arguments.print) {
    if (arguments.compare > 0) fmt::print("{}\n", command_line(words));
    fmt::print("{}\n", command_line(command));
    if (page) fmt::print("{}\n", command_line({"quadrille", "report", report_beside(*page), "--output", *page}));
    return 0;
  }
  if (page) return run_for_page(command, report_beside(*page), *page);
  if (arguments.compare == 0) return launch::exec_program(command);
  const std::filesystem::path report = temporary_report();
  const Words observed = launch::with_variables(launcher, words, observing(variables, report));
  return compare_runs({words, command, observed, report}, arguments.compare, arguments.json);
}

}  // namespace

std::vector<std::string> with_report_file(std::vector<std::string> words) {
  if (words.empty() || words.front() != "run") return words;
  for (std::size_t i = 1; i + 1 < words.size() && words[i] != "--" && !names_launcher(words[i]); ++i) {
    const std::string& next = words[i + 1];
    const bool is_file = !next.starts_with('-') && !names_launcher(next) && !launch::is_quadrille({next}, {});
    if (words[i] != "--report" || !is_file) continue;
    words[i] += "=" + next;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return words;
}

void add_run(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<RunArguments>();
  auto* command = app.add_subcommand("run", "Run an unmodified MPI program with Quadrille's collectives");
  command->footer(
      "Example: quadrille run --report -- mpirun -n 4 ./program. Replaces the calls that are faster so, by a tuning "
      "table, "
      "by what quadrille probe measured, and by what it learns from the program's own calls; passes the others through "
      "to MPI.");
  command->add_flag("--force", arguments->force, "Replace every collective call that can be replaced");
  command->add_option("--only", arguments->only, "Replace only these collectives (comma-separated)");
  command->add_option("--except", arguments->except,
                      "Never replace these; p2p: leave point-to-point messages to MPI, too");
  command->add_option("--algorithm", arguments->algorithms, "As allreduce=ring; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--table", arguments->table, "Tuning table, written by quadrille bench --table");
  command->add_option("--memory", arguments->memory, "Limit on the buffers of a rank in bytes, as 64M");
  command->add_flag("--check", arguments->check, "Compare the arguments of every call across ranks");
  auto* report =
      command
          ->add_option("--report", arguments->report,
                       "Report all collective calls at the end; with a file .json: as JSON, .html: as a page")
          ->expected(0, 1)
          ->default_str("-");
  auto* compare = command
                      ->add_option("--compare", arguments->compare,
                                   "Run the program so many times without and with the drop-in, and say what is faster")
                      ->check(CLI::Range(1, 1'000'000))
                      ->excludes(report);
  command->add_option("--json", arguments->json, "With --compare: write the result to this file, as JSON")
      ->needs(compare);
  command->add_option("--mpi", arguments->mpi, "openmpi or mpich, if the launcher does not determine it");
  command->add_flag("--print", arguments->print, "Print the command line (with --compare both) instead of running it");
  add_program(command, "LAUNCHER", arguments->words, "The launcher and its arguments, as in: mpirun -n 4 ./program");
  command->callback([arguments, &exit] { exit = run_program(*arguments); });
}

}  // namespace quadrille::tools
