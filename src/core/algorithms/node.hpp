#pragma once

#include <cstdint>
#include <functional>

#include "compose/problem.hpp"
#include "topology/topology.hpp"

// Collectives of the ranks of a node through shared memory, a piece at a time. All ranks of the communicator must
// construct such a stage, before anything else; only those of the node take part in a piece, inside Builder::within of
// the node's group. Slots are free when a run starts, so the first pieces need not wait.
namespace quadrille::node {

// How data is divided into pieces that fit the slots: pieces use a few places in turn.
struct Cut {
  static constexpr std::int32_t least_places = 4;

  std::int64_t piece = 0;   // units; 0: not divided
  std::int64_t pieces = 0;  // of all data
  std::int64_t slot = 0;    // units of all places together
  std::int32_t places = least_places;

  bool places_are_used_again() const { return pieces > places; }

  // For `units` units in `room` units of slots, in pieces of at most `most` units (0: as large as possible). Small
  // pieces get more places, so that the writer seldom waits for one.
  static Cut of(std::int64_t units, std::int64_t room, std::int64_t most = 0);
};

// Whether the ranks of a node share memory.
inline bool shares_memory(const Problem& problem) {
  return problem.room > Cut::least_places;
}

// The ranks of a rank's node, in rank order; by default of the problem's rank.
Group ranks_of(const Problem& problem, Rank rank);
inline Group ranks_of(const Problem& problem) {
  return ranks_of(problem, problem.rank);
}
// Their leader: the root, if it is one of them.
Rank leader_of(const Problem& problem);
// The number of ranks of the largest node.
Rank most_ranks(const Problem& problem);

// Whether so many ranks of a node do best if each waits for all others, and reads what they have. On a fat node a
// rank would look at very many counters; but where ranks share cores, every step of a tree is a turn of all of them.
bool are_few(const Problem& problem, Rank ranks);

// Barriers of a node: flat, or by dissemination and a binomial tree.
class Barrier {
 public:
  Barrier(Builder& builder, const Problem& problem);
  // All ranks wait for all.
  void together(Builder& builder) const;
  // The leader waits for all, and releases them.
  void arrive(Builder& builder, Rank leader) const;
  void depart(Builder& builder, Rank leader) const;

 private:
  void wait_for_others(Builder& builder) const;

  Problem problem_;
  std::int32_t arrived_;
  std::int32_t released_;
};

// From one rank to the others, through its slot.
class Bcast {
 public:
  Bcast(Builder& builder, const Cut& cut);
  void operator()(Builder& builder, Rank root, const Segment& segment, const Region& data) const;

 private:
  Cut cut_;
  Region slot_;
  std::int32_t filled_;
  std::int32_t emptied_;
};

// From each rank its input, reduced in the order of the node's ranks: to one rank's output or to all. Each rank reduces
// a share of a long piece; a short one is reduced by every rank that needs the result.
class Reduce {
 public:
  Reduce(Builder& builder, const Problem& problem, const Cut& cut);
  // Whether the ranks that need the result of a piece reduce all of it, rather than every rank a share.
  static bool is_alone(const Problem& problem, std::int64_t units, Rank ranks, bool to_all);
  void to(Builder& builder, Rank root, const Segment& segment, const Region& input, const Region& output) const;
  void to_all(Builder& builder, const Segment& segment, const Region& input, const Region& output) const;

 private:
  static constexpr Rank all_ranks = -1;

  void reduce_alone(Builder& builder, Rank root, const Segment& segment, const Region& input,
                    const Region& output) const;
  void reduce_in_shares(Builder& builder, bool wanted, const Segment& segment, const Region& input,
                        const Region& output) const;
  void reduce(Builder& builder, Rank root, const Segment& segment, const Region& input, const Region& output) const;
  Region place(const Builder& builder, Rank owner, const Segment& segment) const;

  Problem problem_;
  Cut cut_;
  Region slot_;
  std::int32_t filled_;
  std::int32_t reduced_;
  std::int32_t emptied_;
};

// The reduction of a rank's input with those of the node's lower ranks.
class Scan {
 public:
  Scan(Builder& builder, const Cut& cut);
  void operator()(Builder& builder, const Segment& segment, const Region& input, const Region& output) const;

 private:
  Cut cut_;
  Region slot_;
  std::int32_t filled_;
  std::int32_t emptied_;
};

// The region of a rank's block.
using BlockOf = std::function<Region(Rank)>;

// From each rank a block, through its slot: to one rank or to all.
class Gather {
 public:
  Gather(Builder& builder, const Cut& cut);
  void to(Builder& builder, Rank root, const Segment& segment, const Region& input, const BlockOf& output) const;
  void to_all(Builder& builder, const Segment& segment, const Region& input, const BlockOf& output) const;

 private:
  void put(Builder& builder, const Segment& segment, const Region& input) const;
  void take(Builder& builder, const Segment& segment, const BlockOf& output) const;

  Cut cut_;
  Region slot_;
  std::int32_t filled_;
  std::int32_t emptied_;
};

// To each rank a block, through the sender's slot, which has a part for each: from one rank or from all. The cut is
// that of one block, for a share of the slot.
class Scatter {
 public:
  static Cut cut_of(const Problem& problem, std::int64_t units);

  Scatter(Builder& builder, const Problem& problem, const Cut& cut);
  void from(Builder& builder, Rank root, const Segment& segment, const BlockOf& input, const Region& output) const;
  void from_all(Builder& builder, const Segment& segment, const BlockOf& input, const BlockOf& output) const;
  // The blocks for each rank reduced, in the order of the node's ranks.
  void reduced(Builder& builder, const Segment& segment, const BlockOf& input, const Region& output) const;

 private:
  Region place(const Builder& builder, Rank owner, Rank target, const Segment& segment) const;
  void put(Builder& builder, const Segment& segment, const BlockOf& input) const;
  void take(Builder& builder, Rank owner, const Segment& segment, const Region& output) const;

  Cut cut_;
  Region slot_;
  std::int32_t filled_;
  std::int32_t emptied_;
};

}  // namespace quadrille::node
