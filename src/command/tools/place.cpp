#include "tools/place.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "files/replace.hpp"
#include "tools/bench.hpp"
#include "tools/commands.hpp"
#include "tools/program_arguments.hpp"

namespace quadrille::tools {

namespace {

int verify_places(const PlaceArguments& arguments) {
  const std::string mpi = mpi_of_job(arguments.mpi);
  if (mpi.empty()) {
    throw std::invalid_argument(fmt::format(
        "--verify: start it instead of the program, as in: mpirun ... quadrille place --verify {}", arguments.verify));
  }
  return exec_mpi_program(mpi, {"--placement", arguments.verify});
}

void write_launch_file(const PlaceArguments& arguments, const Placed& placed) {
  const LaunchFile made =
      launch_file(placed, arguments.placing, arguments.launcher, arguments.output, arguments.on_cores);
  files::replace_file(arguments.output, made.text);
  if (arguments.json) return;
  std::string line = command_line(made.line);
  // Assignments in front of a command are not words of it.
  if (made.line.front().starts_with("SLURM_HOSTFILE=")) {
    line = "SLURM_HOSTFILE=" + command_line({arguments.output}) + line.substr(command_line({made.line.front()}).size());
  }
  fmt::print("\nwritten to {}; start the program by\n  {} PROGRAM\n", arguments.output, line);
  if (!made.remark.empty()) fmt::print("{}\n", made.remark);
}

int place_ranks(const PlaceArguments& arguments) {
  if (!arguments.verify.empty()) return verify_places(arguments);
  if (arguments.run) return place_and_run(arguments);
  if (!arguments.words.empty()) throw std::invalid_argument("a program behind -- is for --run");
  if (arguments.placing.source.what.empty()) throw std::invalid_argument("nothing to place: give a trace or a pattern");
  if (!arguments.output.empty() && arguments.launcher.empty()) {
    throw std::invalid_argument(
        "--output: for which launcher? Give --launcher openmpi, openmpi-5, slurm, mpich or cluster");
  }
  const Placed placed = place(arguments.placing);
  if (!arguments.svg.empty()) files::replace_file(arguments.svg, placed_as_svg(placed));
  fmt::print("{}", arguments.json ? placed_as_json(placed) : placed_as_text(placed));
  if (!arguments.output.empty()) write_launch_file(arguments, placed);
  return 0;
}

}  // namespace

void add_place(CLI::App& app, Exit& exit, const Words& launcher_words) {
  const auto arguments = std::make_shared<PlaceArguments>();
  arguments->words = launcher_words;
  PlacingArguments& placing = arguments->placing;
  auto* command = app.add_subcommand("place", "Find where to put the ranks of a program, so that messages are short");
  command->footer(
      "Example: quadrille place lmp.trace --hosts hosts --launcher openmpi --output lmp.ranks; mpirun -n 16 --hostfile "
      "hosts --rankfile lmp.ranks quadrille place --verify lmp.ranks");
  add_source_options(command, placing.source);
  command->get_option("WHAT")->required(false);
  auto* hosts = command->add_option(
      "--hosts", placing.hosts, "Where ranks may run: a host file of Open MPI or MPICH, or nodes and slots as 16x4");
  command->add_option("--cluster", placing.cluster, "The same: a cluster of quadrille cluster that is up")
      ->excludes(hosts);
  command->add_option("--machine", placing.source.machine, "Machine file; default: what quadrille probe wrote here");
  command->add_option("--racks", placing.racks, "File of racks; default: QUADRILLE_RACKS");
  command->add_option("--slow", placing.slow, "As node2=4: a byte takes 4 times as long on its link; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--fix", placing.fixed, "As 0=node3: the rank stays on that host; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--without", placing.without, "No ranks on this host; may be repeated")->allow_extra_args(false);
  command->add_option("--from", placing.from,
                      "Where ranks are today: a file as --output writes it; default: block by block");
  command->add_option("--seed", placing.seed, "The same seed, the same result")->capture_default_str();
  auto* launcher = command->add_option("--launcher", arguments->launcher, "What --output is for")
                       ->check(CLI::IsMember(placing_launchers()));
  command->add_option("--output", arguments->output, "Write the launcher's file, and print the command line");
  launcher->needs("--output");
  command->add_flag("--cores", arguments->on_cores,
                    "In a file for Open MPI: each rank on a core of its own, instead of on any of its host");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->add_option("--svg", arguments->svg, "Draw what nodes send to each other, today and placed");
  command->add_option("--verify", arguments->verify,
                      "Under the launcher: say which ranks are not where this file puts them");
  command->add_flag("--run", arguments->run,
                    "Run the program behind --, traced; and again with its ranks placed, if that gains");
  command
      ->add_flag("--drop-in", arguments->drop_in,
                 "With --run: run it as quadrille run does, and place ranks for the algorithms of Quadrille")
      ->needs("--run");
  command->add_option("--mpi", arguments->mpi,
                      "With --verify and --run: openmpi or mpich, if the launcher does not determine it");
  command->callback([arguments, &exit] { exit = place_ranks(*arguments); });
}

}  // namespace quadrille::tools
