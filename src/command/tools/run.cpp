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
#include "tools/places.hpp"
#include "tools/program.hpp"
#include "variables/variables.hpp"

namespace quadrille::tools {

namespace {

struct RunWish {
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

// The first of the words that is a program linked with an MPI.
std::optional<launch::Mpi> mpi_of_program(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto mpi = launch::mpi_of(words[i])) return mpi;
  }
  return std::nullopt;
}

launch::Mpi mpi_for(const RunWish& wish, const Words& words, launch::Launcher launcher) {
  if (wish.mpi) {
    if (const auto mpi = launch::mpi_named(*wish.mpi)) return *mpi;
    throw std::invalid_argument(fmt::format("--mpi: '{}' is neither openmpi nor mpich", *wish.mpi));
  }
  if (const auto mpi = launch::mpi_of(launcher)) return *mpi;
  if (const auto mpi = mpi_of_program(words)) return *mpi;
  throw std::invalid_argument("which MPI is the program for? Say --mpi openmpi or --mpi mpich");
}

std::filesystem::path drop_in_for(launch::Mpi mpi) {
  std::filesystem::path library = place_for(std::string(launch::name(mpi))) / "libquadrille-dropin.so";
  if (std::filesystem::exists(library)) return library;
  throw std::invalid_argument(
      fmt::format("this installation has no drop-in for {}: there is no {}", launch::name(mpi), library.string()));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}{}", text.empty() ? "" : ",", word);
  return text;
}

launch::Variables variables_of(const RunWish& wish, const std::filesystem::path& library, launch::Launcher launcher) {
  const char* preloaded = std::getenv("LD_PRELOAD");
  launch::Variables list = {
      {"LD_PRELOAD", preloaded && *preloaded ? fmt::format("{}:{}", library.string(), preloaded) : library.string()}};
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) list.emplace_back(name, *value);
  };
  if (wish.force) add("QUADRILLE_FORCE", wish.only.value_or("all"));
  add("QUADRILLE_ONLY", wish.only);
  add("QUADRILLE_EXCEPT", wish.except);
  if (!wish.algorithms.empty()) add("QUADRILLE_ALGORITHM", joined(wish.algorithms));
  if (wish.table) add("QUADRILLE_TABLE", std::filesystem::absolute(*wish.table).string());
  add("QUADRILLE_MEMORY", wish.memory);
  if (wish.check) add("QUADRILLE_CHECK", "1");
  if (wish.report)
    add("QUADRILLE_REPORT", *wish.report == "-" ? *wish.report : std::filesystem::absolute(*wish.report).string());
  // Open MPI passes nothing else on to other nodes.
  for (const variables::Variable& one : variables::all()) {
    const char* const value = std::getenv(std::string(one.name).c_str());
    const bool told = std::any_of(list.begin(), list.end(), [&](const auto& item) { return item.first == one.name; });
    if (launcher == launch::Launcher::openmpi && value && *value && !told) list.emplace_back(one.name, value);
  }
  return list;
}

int run_program(const RunWish& wish) {
  const Words words = without_dashes(wish.words);
  const auto launcher = launch::detect_launcher(words.front());
  if (!launcher) {
    throw std::invalid_argument(fmt::format(
        "'{}' is no launcher that is known: mpirun and mpiexec of Open MPI and MPICH are, and srun. With another one, "
        "set the variables yourself: docs/environment.md says how",
        words.front()));
  }
  const std::filesystem::path library = drop_in_for(mpi_for(wish, words, *launcher));
  const Words command = launch::with_variables(*launcher, words, variables_of(wish, library, *launcher));
  if (!wish.print) return launch::exec_program(command);
  std::string line;
  for (const std::string& word : command)
    line += fmt::format("{}{}", line.empty() ? "" : " ", launch::shell_word(word));
  fmt::print("{}\n", line);
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Exit& exit) {
  const auto wish = std::make_shared<RunWish>();
  auto* command = app.add_subcommand("run", "Run an MPI program, unchanged, on our collectives");
  command->footer(
      "Example: quadrille run --table our.table --report -- mpirun -n 4 ./program. Serves what the table has, hands "
      "the "
      "rest down to MPI.");
  command->add_flag("--force", wish->force, "Serve every collective that can be served");
  command->add_option("--only", wish->only, "Serve these collectives alone, with commas between them");
  command->add_option("--except", wish->except,
                      "Never serve these; p2p: don't wait for the program's own messages either");
  command->add_option("--algorithm", wish->algorithms, "As allreduce=ring; may be given several times")
      ->allow_extra_args(false);
  command->add_option("--table", wish->table, "Serve what this file, made by quadrille bench --table, says is faster")
      ->check(CLI::ExistingFile);
  command->add_option("--memory", wish->memory, "Bytes a rank may take for a collective, as 64M");
  command->add_flag("--check", wish->check, "Compare every call across ranks before it starts");
  command->add_option("--report", wish->report, "At the end, say what was called and what became of it; =FILE: as JSON")
      ->expected(0, 1)
      ->default_str("-");
  command->add_option("--mpi", wish->mpi, "openmpi or mpich, where the launcher does not tell");
  command->add_flag("--print", wish->print, "Print the command line in place of running it");
  add_program(command, "LAUNCHER", wish->words, "The launcher and its words, as in: mpirun -n 4 ./program");
  command->callback([wish, &exit] { exit = run_program(*wish); });
}

}  // namespace quadrille::tools
