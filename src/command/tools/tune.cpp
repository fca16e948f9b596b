#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/bench.hpp"
#include "tools/commands.hpp"

namespace quadrille::tools {

namespace {

struct TuneArguments {
  std::vector<std::string> collectives;
  std::string sizes = "8-1MiB*8";
  double minutes = 5;
  std::string mpi;
};

// The benchmark, whose findings are remembered.
int tune(const TuneArguments& arguments) {
  const std::string mpi = mpi_of_job(arguments.mpi);
  if (mpi.empty()) {
    throw std::invalid_argument(
        "start it under mpirun, as the programs will be: mpirun -n 64 quadrille tune; with another launcher set --mpi, "
        "as in srun -n 64 quadrille tune --mpi openmpi");
  }
  std::vector<std::string> words = arguments.collectives;
  if (words.empty()) words = {"barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"};
  const std::vector<std::string> options = {"--sizes",   arguments.sizes,
                                            "--least",   "6",
                                            "--within",  "3",
                                            "--total",   fmt::format("{}", 60 * arguments.minutes),
                                            "--remember"};
  words.insert(words.end(), options.begin(), options.end());
  return exec_mpi_program(mpi, std::move(words));
}

}  // namespace

void add_tune(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<TuneArguments>();
  auto* command =
      app.add_subcommand("tune", "Measure which algorithms are fastest here, and remember it for all programs");
  command->footer(
      "Example: mpirun -n 64 quadrille tune allreduce --time 10, as the programs will run: what is found is used for "
      "as "
      "many ranks and nodes. It is quadrille bench --remember, which has more options. quadrille knows shows what is "
      "remembered.");
  command->add_option("COLLECTIVE", arguments->collectives,
                      "Collectives to measure; default: barrier, bcast, reduce, allreduce, allgather, alltoall");
  command->add_option("--time", arguments->minutes, "Minutes that it may take, and the first calls")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--sizes", arguments->sizes, "Bytes of a rank's data, as in quadrille bench")
      ->capture_default_str();
  command->add_option("--mpi", arguments->mpi, "openmpi or mpich, if the launcher does not determine it");
  command->callback([arguments, &exit] { exit = tune(*arguments); });
}

}  // namespace quadrille::tools
