#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "launch/mpi.hpp"
#include "machine/host.hpp"
#include "machine/parts.hpp"
#include "survey/survey.hpp"
#include "tools/bench.hpp"
#include "tools/commands.hpp"
#include "tools/shown.hpp"

namespace quadrille::tools {

namespace {

struct TopologyWish {
  std::string json;
  std::string svg;
  std::string mpi;
};

int show_topology(const TopologyWish& wish) {
  std::string mpi = wish.mpi;
  if (const auto started_by = launch::mpi_of_launcher(); mpi.empty() && started_by) mpi = launch::name(*started_by);
  if (!mpi.empty()) return exec_mpi_program(mpi, {"--topology", wish.json, wish.svg});
  const survey::Survey survey = survey::survey_of(machine::host_name(), machine::Parts());
  if (wish.json == "-") {
    fmt::print("{}", to_json(survey));
  } else {
    fmt::print("{}", to_text(survey));
    if (!wish.json.empty()) write_file(wish.json, to_json(survey));
  }
  if (!wish.svg.empty()) write_file(wish.svg, to_svg(survey));
  return 0;
}

}  // namespace

void add_topology(CLI::App& app, Exit& exit) {
  const auto wish = std::make_shared<TopologyWish>();
  auto* command = app.add_subcommand("topology", "Show racks, nodes and their parts, and the ranks in them");
  command->footer(
      "Under mpirun it shows where the ranks are: mpirun -n 4 quadrille topology; without it, this machine alone.");
  command->add_option("--json", wish->json,
                      "Write an object for programs to this file; -: to standard output, in place of the text");
  command->add_option("--svg", wish->svg, "Draw it into this file");
  command->add_option("--mpi", wish->mpi, "openmpi or mpich, where the launcher does not tell");
  command->callback([wish, &exit] { exit = show_topology(*wish); });
}

}  // namespace quadrille::tools
