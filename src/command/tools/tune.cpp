#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>

#include "tools/commands.hpp"
#include "tools/tune_native.hpp"

namespace quadrille::tools {

void add_tune(CLI::App& app, Exit& exit) {
  struct Arguments {
    bool native = false;
    NativeTuning tuning;
  };
  const auto arguments = std::make_shared<Arguments>();
  NativeTuning& tuning = arguments->tuning;
  auto* command = app.add_subcommand("tune", "Measure the MPI's own algorithms, for quadrille export");
  command->footer(
      "Example: quadrille tune --native --output native.json allreduce bcast -- mpirun -n 8. Starts the launcher many "
      "times, each time with another algorithm of the MPI's own, and with its default between them.");
  command->add_flag("--native", arguments->native, "Measure the algorithms of the MPI itself");
  command->add_option("--output", tuning.output, "The JSON file to write")->capture_default_str();
  command->add_option("--sizes", tuning.sizes, "Bytes of a rank's data, as quadrille bench has them")
      ->capture_default_str();
  command
      ->add_option("--segments", tuning.segments,
                   "Segment sizes for those of Open MPI's algorithms that have segments; none: no segments")
      ->capture_default_str();
  command->add_option("--time", tuning.time, "Maximum seconds per size in each launch")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--rounds", tuning.rounds,
                   "Launches of each algorithm, at least 2; the MPI's default is launched between all of them")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  command->add_option("--timeout", tuning.timeout, "Skip an algorithm at a size that takes more seconds than this")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--mpi", tuning.mpi, "openmpi or mpich, if the launcher does not determine it");
  add_program(command, "LAUNCHER", tuning.words,
              "Collectives (default: all that the MPI has rules for), then -- and the launcher with its options");
  command->callback([arguments, &exit] {
    if (!arguments->native) throw std::invalid_argument("tune: set --native");
    exit = tune_native(arguments->tuning);
  });
}

}  // namespace quadrille::tools
