#pragma once

#include <optional>
#include <string_view>

#include "algorithms/catalogue.hpp"
#include "algorithms/node.hpp"
#include "compose/compose.hpp"

// Common to the hierarchical algorithms of all collectives.
namespace quadrille::hierarchy {

// More levels than any machine has. A level uses one channel upwards and one downwards.
inline constexpr std::int32_t most_levels = 8;
inline constexpr std::int32_t node_channel = 2 * most_levels;
inline constexpr std::int32_t channels = node_channel + 2;
inline std::int32_t channel_up(const compose::Level& level) {
  return level.number;
}
inline std::int32_t channel_down(const compose::Level& level) {
  return most_levels + level.number;
}

// A part of a composition by an algorithm of the catalogue.
compose::Part by(Collective collective, std::string_view name);
// A reduce that suits the size.
std::string_view reduce_name(const Problem& problem);
compose::Part reduce_by(const Problem& problem);
// The same problem without segments: a node may have more ranks than there are nodes, and they form no chain.
Problem uncut(const Problem& problem);

// With half of the shared memory: the other half is for the way back.
Problem with_half_the_room(Problem problem);

// The segment size for chains through all nodes, if the data is long enough to fill them; else 0, no segments.
std::int64_t chain_segment(const Problem& problem);
// The shortest segment that is worth a message.
std::int64_t shortest_segment(const Problem& problem);

// Whether latency dominates.
bool is_short(const Problem& problem);
// For Algorithm::scales of reductions: whether the data is so short that it moves in one piece and by the algorithms
// that are for single units.
bool reduction_scales(const Problem& problem);

// The problem on a level, whose leaders have the combined data of their domains in `data`. The result replaces it; for
// a reduce, at the level's leader.
Problem among_leaders(const Problem& problem, const compose::Level& level, const Region& data);
Problem reduce_among_leaders(const Problem& problem, const compose::Level& level, const Region& data);
// Maximum units of scratch of the reduces among leaders, on all levels.
std::int64_t reduce_scratch_units(const Problem& problem);

// The part inside a node, between the problem's ranks there and their leader: through shared memory or, without it, by
// messages. All ranks must construct it, before anything else.
class ReduceInside {
 public:
  ReduceInside(Builder& builder, const Problem& problem);
  // To `result` at the leader.
  void operator()(Builder& builder, const Region& result) const;

 private:
  Problem problem_;
  node::Cut cut_;
  std::optional<node::Reduce> stage_;
};

class BcastInside {
 public:
  // From the node's leader or another rank of it, in pieces of at most `problem.segment`; see `cut`.
  BcastInside(Builder& builder, const Problem& problem) : BcastInside(builder, problem, node::leader_of(problem)) {}
  BcastInside(Builder& builder, const Problem& problem, Rank from);
  // One segment of the cut, or all data.
  void operator()(Builder& builder, const Segment& segment, const Region& piece) const;
  void operator()(Builder& builder, const Region& data) const;

  const node::Cut& cut() const { return cut_; }

 private:
  Problem problem_;
  Rank from_;
  node::Cut cut_;
  std::optional<node::Bcast> stage_;
};

// `units` units of every rank, to the leader or from it.
class GatherInside {
 public:
  GatherInside(Builder& builder, const Problem& problem, std::int64_t units);
  void operator()(Builder& builder, const Region& input, const node::BlockOf& output) const;

 private:
  Problem problem_;
  std::int64_t units_;
  node::Cut cut_;
  std::optional<node::Gather> stage_;
};

class ScatterInside {
 public:
  ScatterInside(Builder& builder, const Problem& problem, std::int64_t units);
  void operator()(Builder& builder, const node::BlockOf& input, const Region& output) const;

 private:
  Problem problem_;
  std::int64_t units_;
  node::Cut cut_;
  std::optional<node::Scatter> stage_;
};

// The leaders of all nodes as one level; those of a rack are consecutive.
compose::Level leaders_of_nodes(const Problem& problem);
// How many they are, at once.
inline Rank nodes_of(const Problem& problem) {
  return problem.topology ? problem.topology->domains(problem.topology->levels() - 1) : 1;
}
// Whether the ranks of every node are consecutive.
bool in_rank_order(const Problem& problem);

// The domain of a leader on this level.
Group domain_of(const Problem& problem, const compose::Level& level, Rank leader);

// The blocks of some ranks, merged into as few regions as possible.
std::vector<Region> blocks_of(const Group& ranks, const node::BlockOf& block);
std::vector<Region> joined(const std::vector<Region>& blocks);

// The blocks of a leader's domain: at the root in the caller's buffer, elsewhere in scratch.
class LeaderBlocks {
 public:
  LeaderBlocks(Builder& builder, const Problem& problem, const Region& at_root);
  Region block(Rank rank) const;
  static std::int64_t scratch_units(const Problem& problem);

 private:
  std::int64_t count_;
  Group ranks_;
  Region all_;
};

// Gathers the blocks of the domains of a level to its leader; `block` gives their regions.
void gather_among_leaders(Builder& builder, const Problem& problem, const compose::Level& level,
                          const node::BlockOf& block);

// Levels of the machine above that of nodes; 0: all ranks are on one.
inline int levels_above_nodes(const Problem& problem) {
  return node::most_ranks(problem) == problem.ranks ? 0 : problem.topology->levels() - 1;
}

}  // namespace quadrille::hierarchy
