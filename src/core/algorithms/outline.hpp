#pragma once

#include <cstdint>
#include <functional>

#include "schedule/data.hpp"

namespace quadrille {

// An algorithm in outline: rounds of messages and of work, one after another, as they follow from its idea rather than
// from the schedules of all ranks. Who derives from this computes something from it, such as a time. Units are those of
// the problem; ranks are counted from the root, if there is one.
class Outline {
 public:
  virtual ~Outline() = default;

  // Whose work it is. In rounds of messages all take part, or one rank of each node; see among_leaders.
  enum class Who : std::uint8_t { all, leader, others };

  // Every rank sends a message to the one `distance` further on, and receives one; so many times, one after another.
  virtual void shift(Rank distance, double units, double times = 1) = 0;
  // Ranks whose numbers differ in that bit send each other a message.
  virtual void exchange(Rank bit, double units) = 0;
  // Multiples of 2 * distance send to the ranks `distance` further on, or receive from them.
  virtual void tree(Rank distance, double units) = 0;
  // One rank sends a message to each other rank, or receives one and reduces so many units.
  enum class Way : std::uint8_t { out, in };
  virtual void star(double units, Way way, double reduced = 0) = 0;
  // Every rank sends a message to each other rank, so many at a time.
  virtual void all_pairs(double units, Rank at_a_time) = 0;
  // A message passes through so many ranks in turn, each of which reduces so many units of it and sends it to `fan`
  // others, `distance` further on.
  struct Chain {
    double hops = 0;
    double reduced = 0;
    double fan = 1;
    Rank distance = 1;
  };
  virtual void chain(double units, const Chain& chain) = 0;

  // Work inside a rank: so many units, so many times.
  virtual void copy(double units, Who who = Who::all, double times = 1) = 0;
  virtual void reduce(double units, Who who = Who::all, double times = 1) = 0;
  // A counter in shared memory is set by one and seen by others.
  virtual void flag() = 0;

  // A collective of the MPI's own among one rank of each node.
  virtual void offload(double units) = 0;

  // So many segments, which follow each other through the same rounds.
  virtual void pipeline(std::int64_t segments, const std::function<void()>& rounds) = 0;
  // Rounds among the leaders of all domains of a level at once (0: the whole machine), among those of all nodes, or,
  // for each of the ranks of a node at once, among those that have the same number on their nodes.
  virtual void among_leaders(int level, const std::function<void(Rank leaders)>& rounds) = 0;
  virtual void among_nodes(const std::function<void(Rank nodes)>& rounds) = 0;
  virtual void among_rails(const std::function<void(Rank nodes)>& rounds) = 0;
  // Rounds of messages among the ranks of each node.
  virtual void inside_nodes(const std::function<void(Rank ranks)>& rounds) = 0;
};

}  // namespace quadrille
