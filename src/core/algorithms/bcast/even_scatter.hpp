#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/children.hpp"
#include "patterns/even_shares.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

// The first part of MPICH's long broadcasts: even shares are scattered by a binomial tree. Shares and ranks are
// numbered from the root.
class EvenScatter {
 public:
  explicit EvenScatter(const Problem& problem)
      : problem_(problem), place_(patterns::at_distance(problem.rank, -problem.root, problem.ranks)) {}

  void build(Builder& builder) const {
    const patterns::Tree tree = patterns::binomial_tree(place_, problem_.ranks, 0);
    if (tree.parent) builder.receive(rank_at(*tree.parent), below(place_));
    send_in_turn(builder, tree, [&](Rank child) { builder.send(rank_at(child), below(child)); });
  }

  Rank place() const { return place_; }
  Rank rank_at(Rank place) const { return patterns::at_distance(problem_.root, place, problem_.ranks); }
  Region shares(Rank first, Rank many) const {
    return problem_.output.part(patterns::even_shares(problem_.count, first, many, problem_.ranks));
  }

 private:
  Region below(Rank place) const { return shares(place, patterns::binomial_subtree(place, problem_.ranks, 0)); }

  const Problem& problem_;
  Rank place_;
};

// What the scatter sends, and others that send shares; empty ones are no messages.
class EvenShareCount {
 public:
  explicit EvenShareCount(const Problem& problem) : problem_(problem) {
    for (Rank rank = 1; rank < problem.ranks; ++rank) add(1, rank, patterns::binomial_subtree(rank, problem.ranks, 0));
  }

  void add(std::int64_t times, Rank first, Rank many) {
    const Range range = patterns::even_shares(problem_.count, first, many, problem_.ranks);
    if (range.empty()) return;
    all_.messages += times;
    all_.units += times * (range.end - range.begin);
  }
  const Prediction& all() const { return all_; }

 private:
  const Problem& problem_;
  Prediction all_{.steps = Prediction::unknown_steps};
};

}  // namespace quadrille::bcast
