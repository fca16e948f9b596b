// quadrille-bench: what `quadrille bench` hands its words to, and `quadrille topology` its files; one for each MPI.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <quadrille/error.hpp>
#include <stdexcept>
#include <string_view>

#include "bench/provenance.hpp"
#include "bench/session.hpp"
#include "bench/surveyed.hpp"
#include "draw/plot.hpp"
#include "measure/bench_options.hpp"
#include "measure/plot.hpp"
#include "measure/tuning.hpp"
#include "select/table.hpp"
#include "survey/survey.hpp"

namespace {

using namespace quadrille;

void write(const std::string& file, const std::string& text) {
  if (file.empty()) return;
  if (file == "-") {
    fmt::print("{}", text);
    return;
  }
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw std::runtime_error(fmt::format("can't write {}", file));
}

// Before hours of measuring: what is wrong with the files, or nothing.
std::string wrong_with_files(const measure::BenchOptions& options) {
  for (const std::string& file : {options.json, options.csv, options.plot, options.table}) {
    const bool output = file == "-" && file != options.table;
    if (!file.empty() && !output && !std::ofstream(file, std::ios::app)) return fmt::format("can't write {}", file);
  }
  try {
    if (!options.table.empty()) read_table(options.table);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

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

// Programs that start meanwhile find the old table or the new one.
void record_tuning(const std::string& file, const measure::Report& report, const engine::Context& measured) {
  Table table = read_table(file);
  Section section =
      measure::tuning_section(report, measured.selector().placement().nodes, measured.settings().preferences.segment);
  const std::size_t rules = section.lines.size();
  put(table, std::move(section), measure::measured_collectives(report));
  write(file + ".new", to_text(table));
  std::filesystem::rename(file + ".new", file);
  fmt::print(stderr, "quadrille bench: {} rules for {} ranks and {} nodes are in {}\n", rules, report.provenance.ranks,
             measured.selector().placement().nodes, file);
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
  const std::string wrong = rank == 0 ? wrong_with_files(options) : "";
  int fine = wrong.empty() ? 1 : 0;
  PMPI_Bcast(&fine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (fine == 0) {
    if (rank == 0) fmt::print(stderr, "quadrille bench: {}\n", wrong);
    return 2;
  }
  bench::Session session(MPI_COMM_WORLD, options);
  several_nodes = session.place().nodes > 1;
  if (!options.table.empty() && native_will_differ(session.place())) {
    if (rank == 0) {
      fmt::print(stderr,
                 "quadrille bench: --table: ranks share cores, and MPICH's own calls will yield under the drop-in: "
                 "measure them so, by quadrille run -- mpirun ... quadrille bench ...\n");
    }
    return 2;
  }
  measure::Report report = session.run();
  std::string command = "quadrille bench";
  for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
  report.provenance = bench::provenance_of(MPI_COMM_WORLD, session.place(), options.label, command);
  if (rank != 0) return 0;
  if (options.json != "-" && options.csv != "-") fmt::print("{}", to_text(report));
  write(options.json, to_json(report));
  write(options.csv, to_csv(report));
  if (!options.plot.empty()) write(options.plot, draw::plot(measure::plot_of({{options.label, report}}, {})));
  if (!options.table.empty()) record_tuning(options.table, report, session.measured());
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
  write(json, to_json(survey));
  write(svg, to_svg(survey));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  const bool topology = argc == 4 && std::string_view(argv[1]) == "--topology";
  try {
    status = topology ? show_topology(argv[2], argv[3]) : measure_all(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "quadrille {}: {}\n", topology ? "topology" : "bench", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
#if defined(MPICH)
  // Between nodes MPICH over UCX may hang in MPI_Finalize, and all is said: its launcher does not mind.
  if (several_nodes) {
    PMPI_Barrier(MPI_COMM_WORLD);
    std::fflush(nullptr);
    _exit(status);
  }
#endif
  MPI_Finalize();
  return status;
}
