#pragma once

#include <optional>
#include <string_view>

#include "algorithms/catalogue.hpp"
#include "algorithms/node.hpp"
#include "compose/compose.hpp"

// What the hierarchical algorithms of all collectives have in common.
namespace quadrille::hierarchy {

// More levels than any machine has. A level takes a channel on the way up and one on the way down.
inline constexpr std::int32_t most_levels = 8;
inline constexpr std::int32_t node_channel = 2 * most_levels;
inline constexpr std::int32_t channels = node_channel + 2;
inline std::int32_t channel_up(const compose::Level& level) {
  return level.number;
}
inline std::int32_t channel_down(const compose::Level& level) {
  return most_levels + level.number;
}

// Part of a hierarchy by an algorithm of the catalogue.
compose::Part by(Collective collective, std::string_view name);
// A reduce that suits the size.
compose::Part reduce_by(const Problem& problem);

// What to cut data into that goes through chains of as many links as there are nodes, if it is long enough to fill
// them; else 0, as for algorithms that are not segmented.
std::int64_t chain_segment(const Problem& problem);
// The shortest ones that are worth a message.
std::int64_t shortest_segment(const Problem& problem);

// Where latency outweighs bytes.
bool is_short(const Problem& problem);

// The problem that is left on a level, whose leaders have the data of all ranks they speak for in one place: the result
// takes its place, of a reduce that of the level's leader.
Problem among_leaders(const Problem& problem, const compose::Level& level, const Region& data);
Problem reduce_among_leaders(const Problem& problem, const compose::Level& level, const Region& data);
// Units of scratch that a reduce among leaders takes at most, on all levels together.
std::int64_t reduce_scratch_units(const Problem& problem);

// What happens inside a node, between the problem's ranks there and their leader: through the memory they share, or
// where they have none by messages. Declared by all ranks alike, before anything else.
class ReduceInside {
 public:
  ReduceInside(Builder& builder, const Problem& problem);
  // To the leader, who has `result` for it.
  void operator()(Builder& builder, const Region& result) const;

 private:
  Problem problem_;
  node::Cut cut_;
  std::optional<node::Reduce> stage_;
};

class BcastInside {
 public:
  // In pieces of at most `problem.segment`; `cut` says how. From the node's leader, or another rank of it.
  BcastInside(Builder& builder, const Problem& problem) : BcastInside(builder, problem, node::leader_of(problem)) {}
  BcastInside(Builder& builder, const Problem& problem, Rank from);
  // One segment of what the cut says, or all of it.
  void operator()(Builder& builder, const Segment& segment, const Region& piece) const;
  void operator()(Builder& builder, const Region& data) const;

  const node::Cut& cut() const { return cut_; }

 private:
  Problem problem_;
  Rank from_;
  node::Cut cut_;
  std::optional<node::Bcast> stage_;
};

// Of every rank `units` units: to the leader, who has a place for each rank's, or from there.
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

// The leaders of all nodes, whatever is between them and the top; those of a rack follow one another.
compose::Level leaders_of_nodes(const Problem& problem);
// Whether the ranks of every node follow one another.
bool in_rank_order(const Problem& problem);

// What a leader on this level speaks for.
Group domain_of(const Problem& problem, const compose::Level& level, Rank leader);

// The blocks of some ranks, in as few regions as they fit in.
std::vector<Region> blocks_of(const Group& ranks, const node::BlockOf& block);
std::vector<Region> joined(const std::vector<Region>& blocks);

// Where a leader has the blocks of the ranks it speaks for: the root in the caller's buffer, others in scratch.
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

// The blocks of the domains of a level, to its leader; all have them where `block` says.
void gather_among_leaders(Builder& builder, const Problem& problem, const compose::Level& level,
                          const node::BlockOf& block);

}  // namespace quadrille::hierarchy
