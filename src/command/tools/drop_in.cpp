#include "tools/drop_in.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "cluster/process.hpp"
#include "launch/command.hpp"
#include "launch/system.hpp"
#include "tools/install_paths.hpp"
#include "variables/variables.hpp"

namespace quadrille::tools {

namespace {

// That of the first argument that is a program linked with MPI.
std::optional<launch::Mpi> mpi_of_program(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto mpi = launch::mpi_of(words[i])) return mpi;
  }
  return std::nullopt;
}

launch::Mpi mpi_for(const std::optional<std::string>& option, const Words& words, launch::Launcher launcher) {
  if (const auto mpi = mpi_of_launch(option, words, launcher)) return *mpi;
  if (const auto mpi = mpi_of_program(words)) return *mpi;
  throw std::invalid_argument("can't detect the program's MPI: set --mpi openmpi or --mpi mpich");
}

}  // namespace

std::filesystem::path drop_in_for(const std::optional<std::string>& mpi, const Words& words,
                                  launch::Launcher launcher) {
  const std::string_view name = launch::name(mpi_for(mpi, words, launcher));
  std::filesystem::path library = mpi_directory(std::string(name)) / "libquadrille-dropin.so";
  if (std::filesystem::exists(library)) return library;
  throw std::invalid_argument(
      fmt::format("this installation has no drop-in for {}: {} does not exist", name, library.string()));
}

launch::Variables preloading(const std::filesystem::path& library) {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return {
      {"LD_PRELOAD", preloaded && *preloaded ? fmt::format("{}:{}", library.string(), preloaded) : library.string()}};
}

// Open MPI forwards no other variables to remote nodes.
void add_environment(launch::Variables& list, launch::Launcher launcher) {
  if (launcher != launch::Launcher::openmpi) return;
  for (const variables::Variable& one : variables::all()) {
    const char* const value = std::getenv(std::string(one.name).c_str());
    const bool already_set =
        std::any_of(list.begin(), list.end(), [&](const auto& item) { return item.first == one.name; });
    if (value && *value && !already_set) list.emplace_back(one.name, value);
  }
}

Words command_with_drop_in(const Words& words, const std::optional<std::string>& mpi, const launch::Variables& more) {
  const launch::Launcher launcher = require_launcher(words);
  launch::Variables list = preloading(drop_in_for(mpi, words, launcher));
  list.insert(list.end(), more.begin(), more.end());
  add_environment(list, launcher);
  return launch::with_variables(launcher, words, list);
}

int run_to_end(const Words& command) {
  const cluster::BlockedSignals blocked;
  const pid_t child = fork();
  launch::require(child, fmt::format("can't start {}", command.front()));
  if (child == 0) {
    blocked.restore();
    _exit(launch::exec_program(command));
  }
  return cluster::wait_passing_signals(child);
}

}  // namespace quadrille::tools
