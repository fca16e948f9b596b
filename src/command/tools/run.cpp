#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "launch/command.hpp"
#include "launch/preload.hpp"
#include "launch/system.hpp"
#include "tools/commands.hpp"
#include "tools/install_paths.hpp"
#include "tools/program_arguments.hpp"
#include "variables/variables.hpp"

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
};

// That of the first argument that is a program linked with MPI.
std::optional<launch::Mpi> mpi_of_program(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto mpi = launch::mpi_of(words[i])) return mpi;
  }
  return std::nullopt;
}

launch::Mpi mpi_for(const RunArguments& arguments, const Words& words, launch::Launcher launcher) {
  if (arguments.mpi) {
    if (const auto mpi = launch::mpi_named(*arguments.mpi)) return *mpi;
    throw std::invalid_argument(fmt::format("--mpi: '{}' is neither openmpi nor mpich", *arguments.mpi));
  }
  if (const auto mpi = launch::mpi_of(launcher)) return *mpi;
  if (const auto mpi = mpi_of_program(words)) return *mpi;
  throw std::invalid_argument("can't detect the program's MPI: set --mpi openmpi or --mpi mpich");
}

std::filesystem::path drop_in_for(launch::Mpi mpi) {
  std::filesystem::path library = mpi_directory(std::string(launch::name(mpi))) / "libquadrille-dropin.so";
  if (std::filesystem::exists(library)) return library;
  throw std::invalid_argument(
      fmt::format("this installation has no drop-in for {}: {} does not exist", launch::name(mpi), library.string()));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}{}", text.empty() ? "" : ",", word);
  return text;
}

launch::Variables variables_of(const RunArguments& arguments, const std::filesystem::path& library,
                               launch::Launcher launcher) {
  const char* preloaded = std::getenv("LD_PRELOAD");
  launch::Variables list = {
      {"LD_PRELOAD", preloaded && *preloaded ? fmt::format("{}:{}", library.string(), preloaded) : library.string()}};
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
  if (arguments.report)
    add("QUADRILLE_REPORT",
        *arguments.report == "-" ? *arguments.report : std::filesystem::absolute(*arguments.report).string());
  // Open MPI forwards no other variables to remote nodes.
  for (const variables::Variable& one : variables::all()) {
    const char* const value = std::getenv(std::string(one.name).c_str());
    const bool already_set =
        std::any_of(list.begin(), list.end(), [&](const auto& item) { return item.first == one.name; });
    if (launcher == launch::Launcher::openmpi && value && *value && !already_set) list.emplace_back(one.name, value);
  }
  return list;
}

int run_program(const RunArguments& arguments) {
  const Words words = without_separator(arguments.words);
  const auto launcher = launch::detect_launcher(words.front());
  if (!launcher) {
    throw std::invalid_argument(
        fmt::format("unknown launcher '{}': supported are mpirun and mpiexec of Open MPI and MPICH, and srun. With "
                    "another one, set the variables yourself as described in docs/environment.md",
                    words.front()));
  }
  const std::filesystem::path library = drop_in_for(mpi_for(arguments, words, *launcher));
  const Words command = launch::with_variables(*launcher, words, variables_of(arguments, library, *launcher));
  if (!arguments.print) return launch::exec_program(command);
  std::string line;
  for (const std::string& word : command)
    line += fmt::format("{}{}", line.empty() ? "" : " ", launch::shell_word(word));
  fmt::print("{}\n", line);
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<RunArguments>();
  auto* command = app.add_subcommand("run", "Run an unmodified MPI program with Quadrille's collectives");
  command->footer(
      "Example: quadrille run --table our.table --report -- mpirun -n 4 ./program. Replaces the calls that the table "
      "has rules for, and passes the others through to MPI.");
  command->add_flag("--force", arguments->force, "Replace every collective call that can be replaced");
  command->add_option("--only", arguments->only, "Replace only these collectives (comma-separated)");
  command->add_option("--except", arguments->except,
                      "Never replace these; p2p: leave point-to-point messages to MPI, too");
  command->add_option("--algorithm", arguments->algorithms, "As allreduce=ring; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--table", arguments->table, "Tuning table, written by quadrille bench --table")
      ->check(CLI::ExistingFile);
  command->add_option("--memory", arguments->memory, "Limit on the buffers of a rank in bytes, as 64M");
  command->add_flag("--check", arguments->check, "Compare the arguments of every call across ranks");
  command->add_option("--report", arguments->report, "Report all collective calls at the end; =FILE: as JSON")
      ->expected(0, 1)
      ->default_str("-");
  command->add_option("--mpi", arguments->mpi, "openmpi or mpich, if the launcher does not determine it");
  command->add_flag("--print", arguments->print, "Print the command line instead of running it");
  add_program(command, "LAUNCHER", arguments->words, "The launcher and its arguments, as in: mpirun -n 4 ./program");
  command->callback([arguments, &exit] { exit = run_program(*arguments); });
}

}  // namespace quadrille::tools
