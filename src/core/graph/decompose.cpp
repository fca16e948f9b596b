#include "graph/decompose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "knowledge/parts.hpp"
#include "topology/topology.hpp"

namespace quadrille::graph {

namespace {

std::optional<Collective> with_equal_blocks(Collective collective) {
  switch (collective) {
    case Collective::allgatherv:
      return Collective::allgather;
    case Collective::gatherv:
      return Collective::gather;
    case Collective::scatterv:
      return Collective::scatter;
    default:
      return std::nullopt;
  }
}

// A collective with blocks of different sizes as one with equal ones: a schedule of the former has no sizes.
std::optional<knowledge::Step> with_equal_blocks(knowledge::Step step) {
  Case& asked = step.asked;
  if (!traits(asked.collective).separate_blocks) return step;
  const Algorithm* twin = nullptr;
  if (const std::optional<Collective> equal = with_equal_blocks(asked.collective)) {
    twin = find_algorithm(*equal, step.variant.algorithm().name);
  }
  if (!twin) return std::nullopt;
  step.variant.place = place_of(*twin);
  if (asked.collective == Collective::allgatherv) asked.count /= asked.ranks;  // of others it is the mean
  asked.largest = asked.count;
  asked.collective = twin->collective;
  return step;
}

void add_part(const knowledge::Step& step, const knowledge::Part& part, const Requirements::Ground& ground,
              Graph& graph) {
  const Case asked = part.asked(step);
  std::vector<std::int64_t> counts;
  if (traits(asked.collective).counts_differ) {
    for (Rank rank = 0; rank < asked.ranks; ++rank) {
      counts.push_back(asked.count / asked.ranks + (rank < asked.count % asked.ranks ? 1 : 0));
    }
  }
  const Shares shares(counts);
  Problem problem{.ranks = asked.ranks,
                  .root = asked.root,
                  .count = asked.count,
                  .shares = counts.empty() ? nullptr : &shares,
                  .commutative = asked.commutative,
                  .segment = step.variant.segment / std::max<std::int64_t>(1, asked.unit_bytes),
                  .width = step.variant.width,
                  .topology = step.by == knowledge::By::all ? ground.topology : nullptr,
                  .room = step.variant.algorithm().hierarchical ? Requirements(ground, 0, 0).room(asked) : 0,
                  .unit_bytes = asked.unit_bytes,
                  .crowded = ground.crowded};
  if (step.variant.window > 0) problem.window = step.variant.window;
  for (problem.rank = 0; problem.rank < asked.ranks; ++problem.rank) {
    const Schedule schedule = build(step.variant.algorithm(), problem);
    for (const auto& [to, traffic] : knowledge::sent_by(schedule, asked.unit_bytes)) {
      graph.add(part.ranks[problem.rank], part.ranks[to], traffic, step.times);
    }
  }
}

void add_step(const knowledge::Step& step, const Requirements::Ground& ground, Graph& graph) {
  for (const knowledge::Part& part : knowledge::parts_of(step, ground.topology)) add_part(step, part, ground, graph);
}

// Sizes that were rounded down are taken to be in the middle of those that they stand for.
Case as_asked(const trace::Kind& kind, Rank ranks) {
  trace::Kind mean = kind;
  if (kind.rounded) mean.count += mean.count / 8;
  return mean.asked(ranks);
}

using PlaceList = std::vector<Place>;

// With nodes and racks numbered in the order in which they come: what is sent depends on nothing else.
PlaceList numbered(PlaceList places) {
  std::map<std::uint64_t, std::uint64_t> nodes;
  std::map<std::uint32_t, std::uint32_t> racks;
  for (Place& one : places) {
    one.node = nodes.try_emplace(one.node, nodes.size()).first->second;
    one.rack = racks.try_emplace(one.rack, static_cast<std::uint32_t>(racks.size())).first->second;
  }
  return places;
}

class Decomposition {
 public:
  Decomposition(const trace::Trace& trace, const Policy& policy, std::span<const Place> places)
      : policy_(policy), places_(places), all_{Graph(trace.ranks)} {
    for (const auto& [from, row] : trace.messages) {
      for (const auto& [to, traffic] : row) {
        if (to != trace::another_world) all_.messages.add(from, to, traffic);
      }
    }
    for (const auto& [communicator, kinds] : trace.collectives) {
      const std::vector<Rank> world = communicator.ranks.list();
      for (const auto& [kind, calls] : kinds) add(communicator, world, kind, calls);
    }
  }

  Decomposed take() {
    for (auto& [what, calls] : omitted_) all_.omitted.push_back({what.first, calls, what.second});
    for (auto& [kind, phases] : phases_) {
      for (Open& phase : phases) all_.phases.push_back(std::move(phase.graph));
    }
    return std::move(all_);
  }

 private:
  void add(const trace::Communicator& communicator, const std::vector<Rank>& world, const trace::Kind& kind,
           const trace::Calls& calls) {
    if (communicator.inter() || world.empty()) {
      const char* const why = world.empty() ? "communicators that were not told apart" : "an intercommunicator";
      omitted_[{std::string(name(kind.collective)), why}] += calls.calls;
      return;
    }
    const auto in_world = [&](Rank rank) { return world[static_cast<std::size_t>(rank)]; };
    if (!calls.blocks.empty()) {
      Graph& phase = phase_for(kind, world);
      for (const auto& [from, row] : calls.blocks) {
        for (const auto& [to, traffic] : row) phase.add(in_world(from), in_world(to), traffic);
      }
    }
    if (kind.has_blocks() || world.size() < 2) return;
    const Graph* const one = messages_of(kind, world);
    if (!one) {
      omitted_[{std::string(name(kind.collective)), fmt::format("not known of {}", policy_.name)}] += calls.calls;
      return;
    }
    Graph& phase = phase_for(kind, world);
    for (const auto& [from, row] : one->rows()) {
      for (const auto& [to, traffic] : row) phase.add(in_world(from), in_world(to), traffic, calls.calls);
    }
  }

  // One in which none of these ranks is yet.
  Graph& phase_for(const trace::Kind& kind, const std::vector<Rank>& world) {
    std::vector<Open>& phases = phases_[kind];
    const auto taken = [&](const Open& one) {
      return std::any_of(world.begin(), world.end(), [&](Rank rank) { return one.ranks.contains(rank); });
    };
    auto free = std::find_if_not(phases.begin(), phases.end(), taken);
    if (free == phases.end()) free = phases.insert(free, {Graph(all_.messages.ranks()), {}});
    free->ranks.insert(world.begin(), world.end());
    return free->graph;
  }

  // Null if they are not known. Communicators that are alike, as rows of a grid, send the same.
  const Graph* messages_of(trace::Kind kind, const std::vector<Rank>& world) {
    kind.form = trace::Form::blocking;
    const auto ranks = static_cast<Rank>(world.size());
    PlaceList places;
    if (policy_.knows_nodes && !places_.empty()) {
      for (const Rank rank : world) places.push_back(places_[static_cast<std::size_t>(rank)]);
    }
    places = numbered(std::move(places));
    const auto [place, is_new] = known_.try_emplace({kind, ranks, places});
    if (is_new) {
      try {
        place->second = graph_of(as_asked(kind, ranks), policy_, places);
      } catch (const std::invalid_argument&) {
        // Then there is none.
      }
    }
    return place->second ? &*place->second : nullptr;
  }

  // A phase, and the ranks of its communicators.
  struct Open {
    Graph graph;
    std::set<Rank> ranks;
  };

  const Policy& policy_;
  std::span<const Place> places_;
  Decomposed all_;
  std::map<trace::Kind, std::vector<Open>> phases_;
  std::map<std::pair<std::string, std::string>, std::int64_t> omitted_;  // calls, by collective and reason
  std::map<std::tuple<trace::Kind, Rank, PlaceList>, std::optional<Graph>> known_;
};

}  // namespace

Graph Decomposed::collectives() const {
  Graph all(messages.ranks());
  for (const Graph& one : phases) all.add(one);
  return all;
}

Graph graph_of(const Case& call, const Policy& policy, std::span<const Place> places) {
  Case asked = call;
  Graph graph(asked.ranks);
  std::optional<Topology> topology;
  Requirements::Ground ground;
  if (policy.knows_nodes && !places.empty()) {
    topology = topology_of(places);
    asked.nodes = topology->domains(topology->levels() - 1);
    asked.ranks_per_node = topology->largest_domain(topology->levels() - 1);
    ground = {.topology = &*topology,
              .slot_bytes = policy.slot_bytes,
              .crowded = policy.cores > 0 && asked.ranks_per_node > policy.cores};
  }
  const knowledge::Choice choice = policy.choose(asked, ground);
  if (choice.steps.empty()) {
    throw std::invalid_argument(
        fmt::format("{}: not known which messages {} sends for it", name(asked.collective), policy.name));
  }
  for (const knowledge::Step& one : choice.steps) {
    const auto step = with_equal_blocks(one);
    if (!step) {
      throw std::invalid_argument(
          fmt::format("{}: its messages depend on counts that are not known", name(asked.collective)));
    }
    add_step(*step, ground, graph);
  }
  return graph;
}

Decomposed decompose(const trace::Trace& trace, const Policy& policy, std::span<const Place> places) {
  return Decomposition(trace, policy, places).take();
}

}  // namespace quadrille::graph
