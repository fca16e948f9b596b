// quadrille-bench: what `quadrille bench` hands its words to, and `quadrille topology` and `quadrille place --verify`
// their files; one for each MPI.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <quadrille/error.hpp>
#include <span>
#include <string>
#include <string_view>

#include "bench/finalize.hpp"
#include "bench/output.hpp"
#include "bench/pairs.hpp"
#include "bench/placed.hpp"
#include "bench/probe.hpp"
#include "bench/provenance.hpp"
#include "bench/session.hpp"
#include "bench/surveyed.hpp"
#include "measure/bench_options.hpp"
#include "survey/survey.hpp"

namespace {

using namespace quadrille;

// Under MPICH whose ranks share cores, the drop-in makes MPICH's own calls yield: without it they are not what the
// table will be used beside.
bool native_will_differ(const bench::Place& place) {
#if defined(MPICH)
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return place.oversubscribed &&
         std::string_view(preloaded ? preloaded : "").find("quadrille-dropin") == std::string_view::npos;
#else
  static_cast<void>(place);
  return false;
#endif
}

bool several_nodes = false;

int measure_all(int argc, char** argv) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  measure::BenchOptions options;
  try {
    options = measure::parse_bench_options(argc, argv);
  } catch (const measure::ParseExit& exit) {
    if (rank == 0) fmt::print(exit.status == 0 ? stdout : stderr, "{}", exit.text);
    return exit.status;
  }
  const std::string wrong = rank == 0 ? bench::Output::wrong_with_files(options) : "";
  int fine = wrong.empty() ? 1 : 0;
  PMPI_Bcast(&fine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (fine == 0) {
    if (rank == 0) fmt::print(stderr, "quadrille bench: {}\n", wrong);
    return 2;
  }
  bench::Session session(MPI_COMM_WORLD, options);
  several_nodes = session.place().nodes > 1;
  if ((!options.table.empty() || options.remember) && native_will_differ(session.place())) {
    if (rank == 0) {
      fmt::print(stderr,
                 "quadrille bench: --table and --remember: ranks share cores, and MPICH's own calls will yield under "
                 "the drop-in: "
                 "measure them so, by quadrille run -- mpirun ... quadrille bench ...\n");
    }
    return 2;
  }
  std::string command = "quadrille bench";
  for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
  measure::Report report;
  report.provenance = bench::provenance_of(MPI_COMM_WORLD, session.place(), options.label, command);
  bench::Output output(options, session.columns(), session.measured());
  if (rank == 0) output.begin(report);
  session.run(report, [&](std::span<const measure::Point> cell) { output.add_cell(report, cell); });
  if (rank != 0) return 0;
  output.end(report);
  return session.complete() ? 0 : 1;
}

// quadrille-bench --topology JSON SVG: where the ranks are; files that nobody wants are empty.
int show_topology(const std::string& json, const std::string& svg) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  several_nodes = true;  // as far as is known
  survey::Survey survey;
  try {
    survey = bench::surveyed(MPI_COMM_WORLD);
  } catch (const Error& error) {
    if (rank == 0) fmt::print(stderr, "quadrille topology: {}\n", error.what());
    return 2;
  }
  several_nodes = survey.count(survey::Level::node) > 1;
  if (rank != 0) return 0;
  if (json != "-") fmt::print("{}", to_text(survey));
  bench::write(json, to_json(survey));
  bench::write(svg, to_svg(survey));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  const bool topology = argc == 4 && std::string_view(argv[1]) == "--topology";
  const bool pairs = argc == 5 && std::string_view(argv[1]) == "--probe-pairs";
  const bool probe = pairs || (argc == 4 && std::string_view(argv[1]) == "--probe");
  const bool placement = argc == 3 && std::string_view(argv[1]) == "--placement";
  try {
    if (probe || placement) several_nodes = true;  // as far as is known
    status = topology    ? show_topology(argv[2], argv[3])
             : pairs     ? bench::probe_pairs(MPI_COMM_WORLD, {argv[2], argv[3], argv[4]})
             : probe     ? bench::probe(MPI_COMM_WORLD, argv[2], std::atof(argv[3]))
             : placement ? bench::verify_placement(MPI_COMM_WORLD, argv[2])
                         : measure_all(argc, argv);
  } catch (const std::exception& error) {
    const char* const what = topology ? "topology" : probe ? "probe" : placement ? "place" : "bench";
    fmt::print(stderr, "quadrille {}: {}\n", what, error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return bench::finalize(several_nodes, status);
}
