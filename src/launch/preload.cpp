#include "launch/preload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "launch/command.hpp"

namespace quadrille::launch {

namespace {

// srun knows one --export: what the user asks for there stays.
std::vector<std::string> exported(std::vector<std::string> words, const Variables& variables) {
  std::string list;
  for (const auto& [name, value] : variables) {
    if (value.find(',') != std::string::npos) {
      throw std::invalid_argument(fmt::format(
          "srun can't pass {}={} on, for the comma: set it in the environment, and leave its option out", name, value));
    }
    list += fmt::format(",{}={}", name, value);
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].starts_with("--export=")) {
      words[i] += list;
      return words;
    }
    if (words[i] == "--export" && i + 1 < words.size()) {
      words[i + 1] += list;
      return words;
    }
  }
  words.insert(words.begin() + 1, "--export=ALL" + list);
  return words;
}

}  // namespace

std::optional<Launcher> launcher_called(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename();
  if (name == "srun") return Launcher::srun;
  if (!name.starts_with("mpirun") && !name.starts_with("mpiexec") && !name.starts_with("orterun")) return std::nullopt;
  const auto path = find_program(program);
  if (!path) throw std::runtime_error(fmt::format("there is no {}: is its folder in the PATH?", program));
  const auto mpi = mpi_in_version(run({*path, "--version"}).text);
  if (!mpi) return std::nullopt;
  return *mpi == Mpi::openmpi ? Launcher::openmpi : Launcher::hydra;
}

std::optional<Mpi> mpi_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::openmpi:
      return Mpi::openmpi;
    case Launcher::hydra:
      return Mpi::mpich;
    case Launcher::srun:
      break;
  }
  return std::nullopt;
}

std::vector<std::string> with_variables(Launcher launcher, std::vector<std::string> words, const Variables& variables) {
  if (launcher == Launcher::srun) return exported(std::move(words), variables);
  std::vector<std::string> options;
  for (const auto& [name, value] : variables) {
    if (launcher == Launcher::openmpi) {
      options.insert(options.end(), {"-x", fmt::format("{}={}", name, value)});
    } else {
      options.insert(options.end(), {"-genv", name, value});
    }
  }
  words.insert(words.begin() + 1, options.begin(), options.end());
  return words;
}

}  // namespace quadrille::launch
