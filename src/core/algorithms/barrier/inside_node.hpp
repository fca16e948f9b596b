#pragma once

#include <optional>

#include "algorithms/node.hpp"
#include "algorithms/outline.hpp"

namespace quadrille::barrier {

// Signals a group's arrival to its first rank, or its release from there, by a tree of messages.
void gather_signals(Builder& builder);
void spread_signals(Builder& builder);
void outline_gather(Outline& out, Rank ranks);
void outline_spread(Outline& out, Rank ranks);

// The part of a barrier inside each node, between its ranks and the first of them: through shared memory or, without
// it, by messages. All ranks must construct it, before anything else.
class InsideNode {
 public:
  InsideNode(Builder& builder, const Problem& problem);
  void arrive(Builder& builder) const;
  void depart(Builder& builder) const;
  // All wait for all, where all ranks are on one node with shared memory.
  void together(Builder& builder) const { words_->together(builder); }
  bool can_be_together(const Problem& problem) const { return words_ && node_.size() == problem.ranks; }

  static void outline_together(const Problem& problem, Outline& out);
  static void outline_arrive(const Problem& problem, Outline& out);
  static void outline_depart(const Problem& problem, Outline& out);

 private:
  Group node_;
  std::optional<node::Barrier> words_;
};

}  // namespace quadrille::barrier
