#include "algorithms/barrier/inside_node.hpp"

#include "algorithms/hierarchy.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/trees.hpp"

namespace quadrille::barrier {

namespace {

constexpr auto nothing = [](Rank) { return 0; };

}  // namespace

void gather_signals(Builder& builder) {
  const patterns::Tree tree = patterns::binomial_tree(builder.rank(), builder.ranks(), 0);
  for (Rank child : tree.backwards()) builder.receive_signal(child);
  builder.fence();
  if (tree.parent) builder.send_signal(*tree.parent);
}

void spread_signals(Builder& builder) {
  const patterns::Tree tree = patterns::binomial_tree(builder.rank(), builder.ranks(), 0);
  if (tree.parent) builder.receive_signal(*tree.parent);
  builder.fence();
  for (Rank child : tree.children) builder.send_signal(child);
}

void outline_gather(Outline& out, Rank ranks) {
  rounds::up(out, ranks, nothing);
}

void outline_spread(Outline& out, Rank ranks) {
  rounds::down(out, ranks, nothing);
}

InsideNode::InsideNode(Builder& builder, const Problem& problem) : node_(node::ranks_of(problem)) {
  if (node::shares_memory(problem)) words_.emplace(builder, problem);
}

void InsideNode::arrive(Builder& builder) const {
  builder.within(node_, hierarchy::node_channel,
                 [&] { words_ ? words_->arrive(builder, 0) : gather_signals(builder); });
  builder.fence();
}

void InsideNode::depart(Builder& builder) const {
  builder.fence();
  builder.within(node_, hierarchy::node_channel,
                 [&] { words_ ? words_->depart(builder, 0) : spread_signals(builder); });
  builder.fence();
}

void InsideNode::outline_together(const Problem& problem, Outline& out) {
  const Rank ranks = node::most_ranks(problem);
  const int rounds = node::are_few(problem, ranks) ? 1 : patterns::ceil_log2(ranks);
  for (int round = 0; round < rounds; ++round) out.flag();
}

void InsideNode::outline_arrive(const Problem& problem, Outline& out) {
  if (node::shares_memory(problem)) return outline_together(problem, out);
  out.inside_nodes([&](Rank ranks) { outline_gather(out, ranks); });
}

void InsideNode::outline_depart(const Problem& problem, Outline& out) {
  if (node::shares_memory(problem)) return out.flag();
  out.inside_nodes([&](Rank ranks) { outline_spread(out, ranks); });
}

}  // namespace quadrille::barrier
