#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "tools/bench.hpp"
#include "tools/commands.hpp"

namespace quadrille::tools {

namespace {

struct ProbeArguments {
  std::string output;
  double time = 0.4;
  std::string mpi;
  bool pairs = false;
  std::string json;
  std::string svg;
};

// MPI programs may run in other folders.
std::string absolute(const std::string& file) {
  return file.empty() || file == "-" ? file : std::filesystem::absolute(file).string();
}

int probe(const ProbeArguments& arguments) {
  const std::string mpi = mpi_of_job(arguments.mpi);
  if (mpi.empty()) {
    throw std::invalid_argument(
        "start it under mpirun, as the programs will be: mpirun -n 64 quadrille probe; with another launcher set "
        "--mpi, "
        "as in srun -n 64 quadrille probe --mpi openmpi");
  }
  const std::string output = absolute(arguments.output);
  if (arguments.pairs) {
    return exec_mpi_program(mpi, {"--probe-pairs", output, absolute(arguments.json), absolute(arguments.svg)});
  }
  return exec_mpi_program(mpi, {"--probe", output, fmt::format("{}", arguments.time)});
}

}  // namespace

void add_probe(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<ProbeArguments>();
  auto* command = app.add_subcommand("probe", "Measure this machine, so that the best algorithms are chosen");
  command->footer(
      "Example: mpirun -n 64 quadrille probe, on the nodes that programs will run on. Takes about a minute, and "
      "writes a machine file to the user's cache, where all later programs find it. Leaves out nodes that --pairs has "
      "named there as slow.");
  command->add_option("--output", arguments->output, "Write to this file, which QUADRILLE_MACHINE can name");
  auto* const pairs = command->add_flag("--pairs", arguments->pairs,
                                        "Measure rates and latencies between pairs of nodes and inside nodes instead, "
                                        "and add them to the file");
  command->add_option("--json", arguments->json, "Write all pairs to this file; -: standard output")->needs(pairs);
  command->add_option("--svg", arguments->svg, "Draw the rates and latencies of all pairs")->needs(pairs);
  command->add_option("--time", arguments->time, "Seconds for each number")
      ->check(CLI::PositiveNumber)
      ->excludes(pairs)
      ->capture_default_str();
  command->add_option("--mpi", arguments->mpi, "openmpi or mpich, if the launcher does not determine it");
  command->callback([arguments, &exit] { exit = probe(*arguments); });
}

}  // namespace quadrille::tools
