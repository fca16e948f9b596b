#include "bench/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <quadrille/quadrille.hpp>
#include <utility>
#include <vector>

#include "api/handle.hpp"
#include "bench/meeting.hpp"
#include "bench/output.hpp"
#include "bench/provenance.hpp"
#include "bench/surveyed.hpp"
#include "bench/waits.hpp"
#include "files/replace.hpp"
#include "measure/pair_study.hpp"
#include "settings/machine.hpp"
#include "text/quantities.hpp"

namespace quadrille::bench {

namespace {

using engine::check;
using measure::PairSample;
using survey::Level;
using survey::Site;

// The levels inside a node that two ranks may share, from the innermost.
constexpr std::array<Level, 5> inner_levels = {Level::core, Level::l3, Level::numa, Level::package, Level::node};

std::size_t innermost_shared(const Site& one, const Site& other) {
  for (std::size_t i = 0; i + 1 < inner_levels.size(); ++i) {
    const machine::Part part = machine::all_parts[inner_levels.size() - 2 - i];
    if (one.position[part] >= 0 && one.position[part] == other.position[part]) return i;
  }
  return inner_levels.size() - 1;
}

struct NodeRanks {
  std::vector<int> ranks;
  // Two of them for each level of inner_levels; {0, 0}: there are none.
  std::array<std::array<int, 2>, inner_levels.size()> pairs = {};
};

std::vector<NodeRanks> nodes_of(const std::vector<Site>& sites) {
  std::vector<NodeRanks> nodes;
  std::map<std::uint64_t, std::size_t> numbers;
  for (std::size_t rank = 0; rank < sites.size(); ++rank) {
    const auto [place, is_new] = numbers.try_emplace(sites[rank].node, nodes.size());
    if (is_new) nodes.emplace_back();
    NodeRanks& node = nodes[place->second];
    for (const int other : node.ranks) {
      auto& pair = node.pairs[innermost_shared(sites[static_cast<std::size_t>(other)], sites[rank])];
      if (pair[1] == 0) pair = {other, static_cast<int>(rank)};
    }
    node.ranks.push_back(static_cast<int>(rank));
  }
  return nodes;
}

cost::Pairs known_before(const std::vector<Site>& sites, const std::vector<NodeRanks>& nodes) {
  cost::Pairs known;
  std::map<std::uint64_t, std::int32_t> racks;
  for (const NodeRanks& node : nodes) {
    const Site& site = sites[static_cast<std::size_t>(node.ranks.front())];
    const auto [place, is_new] = racks.try_emplace(site.rack, static_cast<std::int32_t>(racks.size()));
    if (is_new) known.racks.push_back({site.rack == 0 ? "no rack" : site.rack_name.data()});
    known.nodes.push_back({.name = site.host.data(), .rack = place->second});
  }
  if (known.racks.size() == 1) known.racks.clear();
  return known;
}

// Between the first ranks of nodes; `leaders` are these. The same on all of them.
void study_nodes(measure::PairStudy& study, MPI_Comm leaders) {
  int own = 0;
  int count = 0;
  check(PMPI_Comm_rank(leaders, &own), "MPI_Comm_rank");
  check(PMPI_Comm_size(leaders, &count), "MPI_Comm_size");
  Meeting meeting(leaders);
  for (auto rounds = study.next(); !rounds.empty(); rounds = study.next()) {
    if (own == 0) fmt::print(stderr, "{} rounds between nodes\n", rounds.size());
    std::vector<PairSample> mine;
    for (const measure::PairRound& round : rounds) {
      const auto pair = std::find_if(round.begin(), round.end(),
                                     [&](const measure::NodePair& one) { return one.one == own || one.other == own; });
      if (pair != round.end()) {
        const int peer = pair->one == own ? pair->other : pair->one;
        if (pair->other == own) meeting.answer(peer);
        const cost::Between found = meeting.measure(peer);
        if (pair->one == own) meeting.answer(peer);
        mine.push_back({own, peer, found.latency, found.rate});
      }
      MPI_Request request = MPI_REQUEST_NULL;
      check(PMPI_Ibarrier(leaders, &request), "MPI_Ibarrier");
      finish(request);
    }
    const int bytes = static_cast<int>(mine.size() * sizeof(PairSample));
    std::vector<int> counts(static_cast<std::size_t>(count));
    std::vector<int> from(counts.size());
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Iallgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, leaders, &request), "MPI_Iallgather");
    finish(request);
    int all = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) from[i] = std::exchange(all, all + counts[i]);
    std::vector<PairSample> samples(static_cast<std::size_t>(all) / sizeof(PairSample));
    check(PMPI_Iallgatherv(mine.data(), bytes, MPI_BYTE, samples.data(), counts.data(), from.data(), MPI_BYTE, leaders,
                           &request),
          "MPI_Iallgatherv");
    finish(request);
    study.add(samples);
  }
}

// By level inside a node, on the rank that measures.
using Insides = std::array<cost::Between, inner_levels.size()>;

// Of one level, on all nodes at once, or in turn.
void measure_insides(Insides& found, std::size_t level, const std::vector<NodeRanks>& nodes, bool in_turn,
                     MPI_Comm comm, Meeting& meeting) {
  int own = 0;
  check(PMPI_Comm_rank(comm, &own), "MPI_Comm_rank");
  bool waited = true;
  for (const NodeRanks& node : nodes) {
    const auto [one, other] = node.pairs[level];
    if (other == 0) continue;
    if (own == one) found[level] = meeting.measure(other);
    if (own == other) meeting.answer(one);
    waited = in_turn;
    if (in_turn) wait_for_all(comm);
  }
  if (!waited) wait_for_all(comm);
}

// Between two ranks of each node for each level, on all nodes at once, or, where these are one machine, in turn.
void study_insides(measure::PairStudy* study, const std::vector<NodeRanks>& nodes, bool in_turn, MPI_Comm comm) {
  constexpr int times = 2;
  Meeting meeting(comm);
  for (int time = 0; time < times; ++time) {
    Insides found = {};
    for (std::size_t level = 0; level < inner_levels.size(); ++level) {
      measure_insides(found, level, nodes, in_turn, comm, meeting);
    }
    Communicator all(comm);
    std::vector<Insides> of_ranks(static_cast<std::size_t>(all.size()));
    all.allgather(&found, sizeof found, MPI_BYTE, of_ranks.data(), sizeof found, MPI_BYTE);
    for (std::size_t node = 0; study && node < nodes.size(); ++node) {
      for (std::size_t level = 0; level < inner_levels.size(); ++level) {
        const cost::Between& one = of_ranks[static_cast<std::size_t>(nodes[node].pairs[level][0])][level];
        if (nodes[node].pairs[level][1] == 0) continue;
        study->add_inside(std::string(name(inner_levels[level])), static_cast<std::int32_t>(node), one);
      }
    }
  }
}

// What is wrong with the files, before anything is measured; on rank 0.
std::string wrong_with(const PairFiles& files, const std::string& target) {
  if (target.empty()) return "there is no folder for the machine file: name one by --output";
  for (const std::string& file : {files.json, files.svg}) {
    if (!file.empty() && file != "-" && !files::is_replaceable(file)) return fmt::format("can't write {}", file);
  }
  return "";
}

void write_results(const measure::PairStudy& study, const PairFiles& files, const std::string& target,
                   const std::string& from) {
  const auto old = machine_before(target, built_in_here().model);
  cost::Machine machine = old ? *old : built_in_here();
  machine.pairs = study.result();
  machine.pairs.source = from;
  if (files.json != "-") fmt::print("{}", to_text(study));
  const std::filesystem::path folder = std::filesystem::path(target).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  files::replace_file(target, to_json(machine));
  if (files.json != "-") fmt::print("written to {}\n", target);
  if (!old) fmt::print(stderr, "its other numbers are built-in ones: quadrille probe measures them\n");
  write(files.json, to_json(study, from));
  if (!files.svg.empty()) write(files.svg, to_svg(study));
}

}  // namespace

int probe_pairs(MPI_Comm comm, const PairFiles& files) {
  const std::string target = files.machine.empty() ? machine_file_here(engine::mpi_name()) : files.machine;
  // The file that programs would read may be damaged, or yet to be written.
  try {
    machine_here(engine::mpi_name());
  } catch (const std::invalid_argument&) {
    setenv("QUADRILLE_MACHINE", "none", 1);
  }
  const auto context = api::context_of(comm);
  const int rank = context->rank();
  std::string wrong = rank == 0 ? wrong_with(files, target) : "";
  if (context->ranks() < 2) wrong = "start it with two ranks or more, as the programs will be";
  int fine = wrong.empty() ? 1 : 0;
  check(PMPI_Bcast(&fine, 1, MPI_INT, 0, comm), "MPI_Bcast");
  if (fine == 0) {
    if (rank == 0) fmt::print(stderr, "quadrille probe: {}\n", wrong);
    return 2;
  }
  const std::vector<Site> sites = sites_of(comm);
  const std::vector<NodeRanks> nodes = nodes_of(sites);
  const bool leads =
      std::any_of(nodes.begin(), nodes.end(), [&](const NodeRanks& node) { return node.ranks[0] == rank; });
  const cost::Model& model = context->settings().model;
  const Placement& placement = context->selector().placement();
  const bool share_cores = (model.one_machine ? placement.ranks : placement.ranks_per_node) > model.cores;
  measure::PairStudy study(known_before(sites, nodes), share_cores);
  MPI_Comm leaders = MPI_COMM_NULL;
  check(PMPI_Comm_split(comm, leads ? 0 : MPI_UNDEFINED, rank, &leaders), "MPI_Comm_split");
  if (leads) {
    study_nodes(study, leaders);
    PMPI_Comm_free(&leaders);
  }
  wait_for_all(comm);
  study_insides(rank == 0 ? &study : nullptr, nodes, model.one_machine, comm);
  if (rank != 0) return 0;
  write_results(study, files, target,
                fmt::format("quadrille probe --pairs, {}, {} ranks on {} nodes, {}", engine::mpi_name(), sites.size(),
                            nodes.size(), text::utc_now()));
  return 0;
}

}  // namespace quadrille::bench
