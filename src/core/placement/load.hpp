#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "placement/graph.hpp"
#include "placement/ground.hpp"

namespace quadrille::placement {

// The largest of many numbers that change.
class Largest {
 public:
  explicit Largest(std::size_t size);

  double operator[](std::size_t at) const { return tree_[leaves_ + at]; }
  // top() is right again after settle().
  void add(std::size_t at, double more);
  void settle();
  double top() const { return tree_[1]; }

 private:
  std::size_t leaves_;
  std::vector<double> tree_;  // a heap: each inner one is the larger of two
  std::vector<std::size_t> touched_;
  std::vector<bool> is_touched_;
};

// One part of what a program does, in which all its messages are under way together: an exchange with neighbours, or
// one kind of collective call.
struct Phase {
  Graph graph;
  double times = 1;
};

// The predicted time of a program's communication, placed: of each phase as long as its busiest rank, core or link is
// busy. Kept up to date when ranks move, in proportion to the edges of those that do. The phases and the ground must
// outlive it.
class Load {
 public:
  Load(std::span<const Phase> phases, const Ground& ground, Placement placement);

  double seconds() const { return seconds_; }
  // Of all ranks and links together: of two placements that take the same time, the one with less has more room.
  double total() const { return total_; }
  const Placement& placement() const { return placement_; }
  // Who is on a slot; -1: nobody.
  Rank on(std::int32_t slot) const { return on_[static_cast<std::size_t>(slot)]; }
  std::int32_t node(Rank rank) const { return ground_->node_of[static_cast<std::size_t>(at(rank))]; }
  std::int32_t at(Rank rank) const { return placement_[static_cast<std::size_t>(rank)]; }

  // Who is on one slot and who is on the other change places.
  void swap(std::int32_t one, std::int32_t other);
  // The edges of a rank in all phases.
  std::size_t edges(Rank rank) const;

 private:
  struct Ends {
    Rank rank = 0;
    std::int32_t node = 0;
  };
  void add(std::size_t phase, Ends from, Ends to, double messages, double bytes);
  void add_edges(Rank rank, std::int32_t node, double sign, Rank except);
  void settle();

  std::span<const Phase> phases_;
  const Ground* ground_;
  std::int32_t racks_;
  Placement placement_;
  std::vector<Rank> on_;
  std::vector<Largest> busy_;  // by phase: ranks, nodes' links out and in, their cores, racks' links out and in
  double seconds_ = 0;
  double total_ = 0;
};

}  // namespace quadrille::placement
