#include "tools/tune.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "tools/bench.hpp"
#include "tools/commands.hpp"
#include "tools/option_values.hpp"

namespace quadrille::tools {

namespace {

constexpr const char* footer =
    "Programs with the drop-in, as quadrille run starts them:\n"
    "  mpirun -n 64 quadrille tune allreduce --time 10\n"
    "measures Quadrille's algorithms and the MPI's own functions, and remembers what is fastest for programs on as "
    "many\n"
    "ranks and nodes: start it as the programs will be. quadrille knows shows what is remembered. It is quadrille "
    "bench\n"
    "--remember, which has more options.\n\n"
    "Programs without Quadrille:\n"
    "  quadrille tune --native allreduce -- mpirun -n 8\n"
    "measures the algorithms that Open MPI or MPICH itself can choose from, and writes the times to a file, from "
    "which\n"
    "quadrille export makes rules for the MPI's own choice. It starts the launcher many times, each time with another\n"
    "algorithm, and with the MPI's default between them.";

// The benchmark, whose findings are remembered.
int tune_and_remember(const Tuning& tuning) {
  const std::string mpi = mpi_of_job(tuning.mpi.value_or(""));
  if (mpi.empty()) {
    throw std::invalid_argument(
        "start it under mpirun, as the programs will be: mpirun -n 64 quadrille tune; with another launcher set --mpi, "
        "as in srun -n 64 quadrille tune --mpi openmpi");
  }
  constexpr double usual_minutes = 5;
  Words words = tuning.collectives;
  if (words.empty()) words = {"barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"};
  const Words options = {
      "--sizes",   tuning.sizes, "--least", "6",
      "--within",  "3",          "--total", fmt::format("{}", 60 * tuning.minutes.value_or(usual_minutes)),
      "--remember"};
  words.insert(words.end(), options.begin(), options.end());
  return exec_mpi_program(mpi, std::move(words));
}

std::vector<CLI::Option*> add_native_options(CLI::App* command, Tuning& tuning) {
  std::vector<CLI::Option*> options = {
      command->add_option("--output", tuning.output, "The JSON file to write, after each launch"),
      command->add_option("--each", tuning.each, "Maximum seconds for a size in each launch")
          ->check(CLI::PositiveNumber),
      command
          ->add_option("--rounds", tuning.rounds,
                       "Launches of each algorithm, at least 2; the MPI's default is launched between all of them")
          ->check(CLI::Range(2, 1000)),
      command->add_option("--segments", tuning.segments,
                          "Segment sizes for those of Open MPI's algorithms that have segments; none: no segments"),
      command->add_option("--timeout", tuning.timeout, "Skip an algorithm at a size that takes more seconds than this")
          ->check(CLI::PositiveNumber)};
  for (CLI::Option* one : options) one->capture_default_str()->group("With --native");
  return options;
}

void require_remembering(const Tuning& tuning, const std::vector<CLI::Option*>& native_options) {
  for (const CLI::Option* one : native_options) {
    if (one->count() == 0) continue;
    throw std::invalid_argument(
        fmt::format("{} is for tune --native, which measures the MPI's own algorithms: add --native, or leave it out",
                    one->get_name()));
  }
  if (tuning.launcher.empty()) return;
  throw std::invalid_argument(
      fmt::format("a launcher after -- is for tune --native, which measures the MPI's own algorithms; without --native "
                  "the launcher starts quadrille: {} quadrille tune",
                  command_line(tuning.launcher)));
}

}  // namespace

void add_tune(CLI::App& app, Exit& exit, const Words& launcher) {
  const auto tuning = std::make_shared<Tuning>();
  tuning->launcher = launcher;
  auto* command = app.add_subcommand(
      "tune", "Measure which algorithms are fastest here, and remember it; --native: which of the MPI's own");
  command->footer(footer);
  command
      ->add_option("COLLECTIVE", tuning->collectives,
                   "Collectives to measure; default: barrier, bcast, reduce, allreduce, allgather and alltoall; with "
                   "--native all that the MPI has rules for")
      ->transform(collective_names());
  // For the help only: words_behind takes it from the command line.
  command->add_option("LAUNCHER", "With --native, after --: the launcher with its options, as in -- mpirun -n 8");
  command->add_flag("--native", tuning->native, "Measure the algorithms of the MPI itself, for quadrille export");
  command->add_option("--time", tuning->minutes, "Limit of the whole run in minutes; default: 5, with --native none")
      ->check(CLI::PositiveNumber);
  command->add_option("--sizes", tuning->sizes, "Bytes of a rank's data, as in quadrille bench")->capture_default_str();
  command->add_option("--mpi", tuning->mpi, "openmpi or mpich, if the launcher does not determine it");
  const std::vector<CLI::Option*> native_options = add_native_options(command, *tuning);
  command->callback([tuning, native_options, &exit] {
    if (!tuning->native) require_remembering(*tuning, native_options);
    exit = tuning->native ? tune_native(*tuning) : tune_and_remember(*tuning);
  });
}

}  // namespace quadrille::tools
