#include "bench/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/handle.hpp"
#include "bench/output.hpp"
#include "bench/provenance.hpp"
#include "bench/session.hpp"
#include "bench/waits.hpp"
#include "engine/mpi.hpp"
#include "files/replace.hpp"
#include "machine/host.hpp"
#include "measure/calibration.hpp"
#include "measure/pair_study.hpp"
#include "settings/machine.hpp"
#include "text/quantities.hpp"

namespace quadrille::bench {

namespace {

using engine::check;
using measure::Experiment;

// The two ranks of an experiment: the first of the machine, and the first that is so far from it, or nobody.
std::optional<Rank> partner(Experiment::Where where, const Topology& topology) {
  const int nodes = topology.levels() - 1;
  const int racks = nodes - 1;
  for (Rank rank = 1; rank < topology.domain(0, 0).size(); ++rank) {
    const bool same_node = topology.domain_number(nodes, rank) == topology.domain_number(nodes, 0);
    const bool same_rack = racks < 1 || topology.domain_number(racks, rank) == topology.domain_number(racks, 0);
    const Experiment::Where away = same_node   ? Experiment::Where::node
                                   : same_rack ? Experiment::Where::network
                                               : Experiment::Where::rack;
    if (away == where) return rank;
  }
  return std::nullopt;
}

class Probe {
 public:
  Probe(MPI_Comm comm, double seconds) : comm_(comm), seconds_(seconds), context_(api::context_of(comm)) {}

  const Topology& topology() const { return context_->topology(); }
  const engine::Context& context() const { return *context_; }

  measure::Ground ground() const {
    using Where = Experiment::Where;
    const bool racks = partner(Where::rack, topology()).has_value();
    const cost::Model& model = context_->settings().model;
    const Placement& placement = context_->selector().placement();
    return {.pair_on_node = partner(Where::node, topology()).has_value(),
            .several_nodes = placement.nodes > 1,
            .more_than_two_nodes = placement.nodes > 2,
            .several_racks = racks,
            .oversubscribed = (model.one_machine ? placement.ranks : placement.ranks_per_node) > model.cores};
  }

  // On rank 0; null: it could not be measured.
  std::optional<measure::Result> run(const Experiment& experiment) {
    std::optional<measure::Result> result;
    if (experiment.where == Experiment::Where::all) {
      // MPI connects ranks when they first talk to each other, and not all of them do so in the first call.
      if (!std::exchange(connected_, true)) timed(experiment, comm_);
      return timed(experiment, comm_);
    }
    const bool in = takes_part(experiment.where);
    MPI_Comm some = MPI_COMM_NULL;
    check(PMPI_Comm_split(comm_, in ? 0 : MPI_UNDEFINED, context_->rank(), &some), "MPI_Comm_split");
    if (in) {
      result = timed(experiment, some);
      PMPI_Comm_free(&some);
    }
    wait_for_all(comm_);
    return result;
  }

 private:
  bool takes_part(Experiment::Where where) const {
    const Rank own = context_->rank();
    if (where == Experiment::Where::leaders) return topology().domain(topology().levels() - 1, own)[0] == own;
    const std::optional<Rank> other = partner(where, topology());
    return other && (own == 0 || own == *other);
  }

  std::optional<measure::Result> timed(const Experiment& experiment, MPI_Comm comm) const {
    measure::BenchOptions options;
    options.collectives = {experiment.collective};
    options.sizes = {experiment.bytes};
    options.algorithms = {std::string(experiment.algorithm)};
    if (!experiment.rival.empty()) options.algorithms.emplace_back(experiment.rival);
    options.goal.seconds = seconds_;
    options.goal.precision = 0.03;
    options.goal.least = 6;  // for an interval
    options.quiet = true;
    // The session takes its settings from the environment.
    const std::string segment = std::to_string(experiment.segment);
    if (experiment.segment > 0) setenv("QUADRILLE_SEGMENT", segment.c_str(), 1);
    const std::string rival = fmt::format("{}={}", name(experiment.collective), experiment.rival);
    if (!experiment.rival.empty()) setenv("QUADRILLE_ALGORITHM", rival.c_str(), 1);
    measure::Report report;
    {
      Session session(comm, options);
      session.run(report, [](std::span<const measure::Point>) {});
    }
    unsetenv("QUADRILLE_SEGMENT");
    unsetenv("QUADRILLE_ALGORITHM");
    if (context_->rank() != 0) return std::nullopt;
    const auto time_of = [&](std::string_view variant) {
      const auto place = std::find_if(report.points.begin(), report.points.end(),
                                      [&](const measure::Point& point) { return point.variant == variant; });
      return place == report.points.end() ? std::nullopt : std::optional(place->time);
    };
    const std::optional<measure::Interval> time = time_of(experiment.algorithm);
    if (!time) return std::nullopt;
    return measure::Result{experiment, *time, time_of(experiment.rival).value_or(measure::Interval{})};
  }

  MPI_Comm comm_;
  double seconds_;
  bool connected_ = false;
  std::shared_ptr<engine::Context> context_;
};

// Text that rank 0 has.
void tell_all(MPI_Comm comm, std::string& text) {
  int length = static_cast<int>(text.size());
  check(PMPI_Bcast(&length, 1, MPI_INT, 0, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(PMPI_Bcast(text.data(), length, MPI_CHAR, 0, comm), "MPI_Bcast");
}

// The ranks but for those on nodes that `probe --pairs` has named as slow in the file that is there; null on these.
// Where all wait for all, one slow node would make every number wrong. The first rank stays, since it writes the file.
MPI_Comm without_slow_nodes(MPI_Comm comm, const std::string& target) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  std::vector<measure::Finding> slow;
  if (rank == 0) {
    if (const auto old = machine_before(target, built_in_here().model)) slow = measure::slow_nodes(old->pairs);
  }
  std::string names = "\n";
  for (const measure::Finding& one : slow) names += one.names.front() + '\n';
  tell_all(comm, names);
  std::string first = machine::host_name();
  tell_all(comm, first);
  const auto is_slow = [&](const std::string& host) { return names.find('\n' + host + '\n') != std::string::npos; };
  const bool out = is_slow(machine::host_name()) && machine::host_name() != first;
  std::array<int, 2> ranks = {out ? 0 : 1, out ? 1 : 0};
  check(PMPI_Allreduce(MPI_IN_PLACE, ranks.data(), 2, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  const bool enough = ranks[0] >= 2;
  if (rank == 0 && is_slow(first)) {
    fmt::print(stderr, "quadrille probe: {} is slow (probe --pairs); start it on another node to leave it out\n",
               first);
  }
  if (rank == 0 && enough && ranks[1] > 0) {
    fmt::print(stderr, "quadrille probe: {} ranks are left out, on nodes that are slow:\n", ranks[1]);
    for (const measure::Finding& one : slow) fmt::print(stderr, "  {}\n", one.text);
  }
  MPI_Comm some = MPI_COMM_NULL;
  check(PMPI_Comm_split(comm, out && enough ? MPI_UNDEFINED : 0, rank, &some), "MPI_Comm_split");
  return some;
}

int probe_on(MPI_Comm comm, const std::string& target, double seconds) {
  Probe probe(comm, seconds);
  const int rank = probe.context().rank();
  if (probe.context().ranks() < 2) {
    if (rank == 0) fmt::print(stderr, "quadrille probe: start it with two ranks or more, as the programs will be\n");
    return 2;
  }
  const std::vector<Experiment> all = measure::experiments(probe.ground());
  std::vector<measure::Result> results;
  bool complete = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (rank == 0) fmt::print(stderr, "{} of {}: {}\n", i + 1, all.size(), all[i].number);
    const auto result = probe.run(all[i]);
    if (rank != 0) continue;
    if (result) {
      results.push_back(*result);
    } else {
      complete = false;
      fmt::print(stderr, "quadrille probe: not measured: {}\n", all[i].number);
    }
  }
  if (rank != 0) return 0;
  const Placement& placement = probe.context().selector().placement();
  const cost::Model before = probe.context().settings().model;
  cost::Machine machine{.model = before,
                        .from = fmt::format("quadrille probe, {}, {} ranks on {} nodes, {}", engine::mpi_name(),
                                            placement.ranks, placement.nodes, text::utc_now())};
  measure::calibrate(machine, results,
                     {.topology = &probe.topology(),
                      .slot_bytes = probe.context().selector().requirements().slot_bytes(),
                      .segment = probe.context().settings().preferences.segment,
                      .crowded = probe.context().selector().requirements().crowded()});
  fmt::print("{}", measure::to_text(machine, before));
  // What probe --pairs has found stays.
  if (const auto old = machine_before(target, before)) machine.pairs = old->pairs;
  const std::filesystem::path folder = std::filesystem::path(target).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  files::replace_file(target, to_json(machine));
  fmt::print("written to {}\n", target);
  return complete ? 0 : 1;
}

}  // namespace

int probe(MPI_Comm comm, const std::string& file, double seconds) {
  const std::string target = file.empty() ? machine_file_here(engine::mpi_name()) : file;
  // The file may not exist yet, and what is not measured is to be what is built in.
  setenv("QUADRILLE_MACHINE", "none", 1);
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (rank == 0 && target.empty()) {
    fmt::print(stderr, "quadrille probe: there is no folder for the file: name one by --output\n");
  }
  int has_target = target.empty() ? 0 : 1;
  PMPI_Bcast(&has_target, 1, MPI_INT, 0, comm);
  if (has_target == 0) return 2;
  int status = 0;
  MPI_Comm some = without_slow_nodes(comm, target);
  if (some != MPI_COMM_NULL) {
    status = probe_on(some, target, seconds);
    PMPI_Comm_free(&some);
  }
  wait_for_all(comm);
  return status;
}

}  // namespace quadrille::bench
