#pragma once

#include <cstdint>
#include <functional>

#include "compose/problem.hpp"
#include "topology/topology.hpp"

// What the ranks of a node do together through the memory they share, a piece at a time. All ranks of the communicator
// declare such a stage alike, before anything else; only those of the node take part in a piece, inside
// Builder::within of the node's group. A run finds its slots free, so the first pieces wait for nobody.
namespace quadrille::node {

// How data is cut to go through slots that are smaller: pieces take turns in a few places.
struct Cut {
  static constexpr std::int32_t least_places = 4;

  std::int64_t piece = 0;   // units; 0: not cut
  std::int64_t pieces = 0;  // of all data
  std::int64_t slot = 0;    // units of all places together
  std::int32_t places = least_places;

  bool places_are_used_again() const { return pieces > places; }

  // For so many units and so much room, in pieces of at most `most` units (0: as large as they fit). Small pieces have
  // more places, so that whoever puts them there seldom waits for one.
  static Cut of(std::int64_t units, std::int64_t room, std::int64_t most = 0);
};

// Whether the ranks of a node can use its memory.
inline bool shares_memory(const Problem& problem) {
  return problem.room > Cut::least_places;
}

// The ranks of a rank's node, in rank order; of the problem's own.
Group ranks_of(const Problem& problem, Rank rank);
inline Group ranks_of(const Problem& problem) {
  return ranks_of(problem, problem.rank);
}
// Who speaks for them: the root, if it is one of them.
Rank leader_of(const Problem& problem);
// How many ranks the largest node has.
Rank most_ranks(const Problem& problem);

// Word that everybody has come.
class Barrier {
 public:
  explicit Barrier(Builder& builder) : arrived_(builder.counter(1)), released_(builder.counter(1)) {}
  // From everybody to everybody.
  void together(Builder& builder) const;
  // To one rank, and from there the word to go on.
  void arrive(Builder& builder, Rank leader) const;
  void depart(Builder& builder, Rank leader) const;

 private:
  void wait_for_others(Builder& builder) const;

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

// From each rank its input, reduced in the order of the node's ranks: to one rank's output, or to everybody's. Of a
// long piece each rank reduces a share; of a short one whoever wants the result reduces all.
class Reduce {
 public:
  Reduce(Builder& builder, const Cut& cut);
  void to(Builder& builder, Rank root, const Segment& segment, const Region& input, const Region& output) const;
  void to_all(Builder& builder, const Segment& segment, const Region& input, const Region& output) const;

 private:
  static constexpr Rank everybody = -1;

  void reduce_alone(Builder& builder, Rank root, const Segment& segment, const Region& input,
                    const Region& output) const;
  void reduce_in_shares(Builder& builder, bool wanted, const Segment& segment, const Region& input,
                        const Region& output) const;
  void reduce(Builder& builder, Rank root, const Segment& segment, const Region& input, const Region& output) const;
  Region place(const Builder& builder, Rank owner, const Segment& segment) const;

  Cut cut_;
  Region slot_;
  std::int32_t filled_;
  std::int32_t reduced_;
  std::int32_t emptied_;
};

// Of each rank the fold of its input with those of the node's ranks before it.
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

// Where the block of a rank of the node lies.
using BlockOf = std::function<Region(Rank)>;

// From each rank a block, through its slot: to one rank, or to everybody.
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

// To each rank a block of its own, through the slot of the one it comes from, which has a part for each: from one rank,
// or from everybody. The cut is that of one block, for a share of the room.
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
