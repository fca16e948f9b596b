#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "launch/command.hpp"
#include "launch/mpi.hpp"
#include "tools/bench.hpp"
#include "tools/install_paths.hpp"

namespace quadrille::tools {

namespace {

// Removes --mpi NAME from the arguments; empty: there is none.
std::string take_mpi_option(std::vector<std::string>& words) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (word->starts_with("--mpi=")) {
      std::string name = word->substr(6);
      words.erase(word);
      return name;
    }
    if (*word != "--mpi" || word + 1 == words.end()) continue;
    std::string name = *(word + 1);
    words.erase(word, word + 2);
    return name;
  }
  return "";
}

}  // namespace

std::string mpi_of_job(const std::string& option) {
  const auto started_by = launch::mpi_of_launcher();
  return option.empty() && started_by ? std::string(launch::name(*started_by)) : option;
}

std::filesystem::path mpi_program(const std::string& mpi) {
  std::filesystem::path program = mpi_directory(mpi) / "quadrille-bench";
  if (std::filesystem::exists(program)) return program;
  throw std::invalid_argument(
      fmt::format("this installation has no programs for '{}': there is no {}", mpi, program.string()));
}

int exec_mpi_program(const std::string& mpi, std::vector<std::string> words) {
  words.insert(words.begin(), mpi_program(mpi));
  return launch::exec_program(words);
}

int run_benchmark(std::vector<std::string> words) {
  const std::string mpi = mpi_of_job(take_mpi_option(words));
  if (mpi.empty()) {
    throw std::invalid_argument(
        "start it under mpirun: mpirun -n 4 quadrille bench allreduce; with another launcher set --mpi, as in srun -n "
        "4 quadrille bench --mpi openmpi allreduce");
  }
  return exec_mpi_program(mpi, std::move(words));
}

}  // namespace quadrille::tools
