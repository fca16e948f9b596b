#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "files/replace.hpp"
#include "machine/host.hpp"
#include "machine/parts.hpp"
#include "survey/survey.hpp"
#include "tools/bench.hpp"
#include "tools/commands.hpp"

namespace quadrille::tools {

namespace {

struct TopologyArguments {
  std::string json;
  std::string svg;
  std::string mpi;
};

int show_topology(const TopologyArguments& arguments) {
  const std::string mpi = mpi_of_job(arguments.mpi);
  if (!mpi.empty()) return exec_mpi_program(mpi, {"--topology", arguments.json, arguments.svg});
  const survey::Survey survey = survey::survey_of(machine::host_name(), machine::Parts());
  if (arguments.json == "-") {
    fmt::print("{}", to_json(survey));
  } else {
    fmt::print("{}", to_text(survey));
    if (!arguments.json.empty()) files::replace_file(arguments.json, to_json(survey));
  }
  if (!arguments.svg.empty()) files::replace_file(arguments.svg, to_svg(survey));
  return 0;
}

}  // namespace

void add_topology(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<TopologyArguments>();
  auto* command = app.add_subcommand("topology", "Show racks, nodes, sockets and caches, and where the ranks are");
  command->footer(
      "Under mpirun it shows where the ranks are: mpirun -n 4 quadrille topology; without, this machine only.");
  command->add_option("--json", arguments->json, "Write JSON to this file; -: to standard output, instead of the text");
  command->add_option("--svg", arguments->svg, "Write a drawing to this SVG file");
  command->add_option("--mpi", arguments->mpi, "openmpi or mpich, if the launcher does not determine it");
  command->callback([arguments, &exit] { exit = show_topology(*arguments); });
}

}  // namespace quadrille::tools
