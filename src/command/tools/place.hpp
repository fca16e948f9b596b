#pragma once

#include <string>
#include <vector>

#include "tools/placing.hpp"
#include "tools/program_arguments.hpp"

namespace quadrille::tools {

struct PlaceArguments {
  PlacingArguments placing;
  std::string launcher;
  std::string output;
  bool on_cores = false;
  bool json = false;
  std::string svg;
  std::string verify;
  std::string mpi;
  bool run = false;
  bool drop_in = false;  // with --run: our collectives, and places for them
  Words words;           // behind --: the launcher and the program, for --run
};

// How ranks are put where they belong.
struct LaunchFile {
  std::string text;
  std::vector<std::string> line;  // the command line, without the program
  std::string remark;             // what there is to know; empty: nothing
};

// The launchers that can be written for: openmpi, openmpi-5, slurm, mpich, cluster.
const std::vector<std::string>& placing_launchers();
// `file` is where the text will be, `hosts` the option's file or empty.
LaunchFile launch_file(const Placed& placed, const PlacingArguments& arguments, const std::string& launcher,
                       const std::string& file, bool on_cores);

// Runs a program traced and, if that is quicker by prediction, again with its ranks placed. Returns its exit status.
int place_and_run(PlaceArguments arguments);

std::string placed_as_text(const Placed& placed);
std::string placed_as_json(const Placed& placed);
// What nodes send before and after.
std::string placed_as_svg(const Placed& placed);

}  // namespace quadrille::tools
