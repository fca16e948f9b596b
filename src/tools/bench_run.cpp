#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "tools/bench.hpp"
#include "tools/places.hpp"

namespace quadrille::tools {

namespace {

// By what launchers leave in the environment.
std::optional<std::string> mpi_of_launcher() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) return "openmpi";
  if (std::getenv("PMI_SIZE") && std::getenv("MPI_LOCALNRANKS")) return "mpich";
  return std::nullopt;
}

// Takes --mpi NAME out of the words.
std::optional<std::string> mpi_wished(std::vector<std::string>& words) {
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
  return std::nullopt;
}

}  // namespace

int run_benchmark(std::vector<std::string> words) {
  std::optional<std::string> mpi = mpi_wished(words);
  if (!mpi) mpi = mpi_of_launcher();
  if (!mpi) {
    throw std::invalid_argument(
        "start it under mpirun: mpirun -n 4 quadrille bench allreduce; with another launcher say which MPI "
        "it is for, as srun -n 4 quadrille bench --mpi openmpi allreduce");
  }
  const std::filesystem::path program = place_for(*mpi) / "quadrille-bench";
  if (!std::filesystem::exists(program)) {
    throw std::invalid_argument(
        fmt::format("this installation has no benchmark for '{}': there is no {}", *mpi, program.string()));
  }
  std::vector<char*> arguments;
  std::string name = "quadrille bench";
  arguments.push_back(name.data());
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw std::runtime_error(fmt::format("can't start {}: {}", program.string(), std::strerror(errno)));
}

}  // namespace quadrille::tools
