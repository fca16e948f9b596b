// Binomial one-sided broadcast by way of staging: data is put beside the target's memory before the target has called.
// When it does, it copies the data into its range and acknowledges that, so that the place can be used again. So nobody
// waits for a target that is late but those below it in the tree, and a source that is a whole staging block ahead.
//
// In a binomial tree a rank is written from each distance 2^k by one rank alone, whatever the root, and that has a
// block of its own there: log2 p blocks are enough for all roots, and an acknowledgement goes to one rank. Longer data,
// and all data where nobody may wait in a flush, goes as in one_sided_binomial.
//
// Data in a window; any number of ranks. No scratch; 2 ceil(log2 p) places in each rank's staging.

#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::bcast {

namespace {

patterns::Tree tree_of(const Problem& problem) {
  return patterns::binomial_tree(problem.rank, problem.ranks, problem.root);
}

std::int32_t block_between(Rank source, Rank target, Rank ranks) {
  return patterns::floor_log2(patterns::at_distance(target, -source, ranks));
}

bool is_staged(const Problem& problem) {
  return !problem.pulls && problem.count <= problem.staging;
}

void stage(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = tree_of(problem);
  const one_sided::Notices notices(builder, problem, 1);
  builder.staging(patterns::ceil_log2(problem.ranks), problem.staging);
  const Region data = problem.output.part(0, problem.count);
  const auto place = [&](std::int32_t block) {
    return Region{.buffer = Buffer::staging, .block = block, .length = problem.count};
  };
  const auto block_at = [&](Rank child) { return block_between(problem.rank, child, problem.ranks); };
  Added copied;
  if (tree.parent) {
    const std::int32_t block = block_between(*tree.parent, problem.rank, problem.ranks);
    const Added there = builder.await(notices.filled(block), 1);
    builder.after(copied = builder.copy(place(block), data), {there});
  }
  for (Rank child : tree.children) {
    // The run that had this place before.
    const Added free = builder.await(notices.taken(block_at(child)), 1 - staging_places);
    builder.after(builder.put(child, data, builder.at(child, place(block_at(child)))), {free});
  }
  for (Rank child : tree.children) {
    const Added arrived = builder.flush(child);
    builder.after(builder.notify(child, notices.filled(block_at(child)), 1), {arrived});
  }
  if (!tree.parent) return;
  const std::int32_t block = block_between(*tree.parent, problem.rank, problem.ranks);
  builder.after(builder.notify(*tree.parent, notices.taken(block), 1), {copied});
}

void build(Builder& builder, const Problem& problem) {
  if (problem.count == 0 || problem.ranks == 1) return;
  if (is_staged(problem)) return stage(builder, problem);
  one_sided::broadcast(builder, problem, tree_of(problem));
}

Prediction predict(const Problem& problem) {
  return one_sided::predict_broadcast(problem,
                                      [&](Rank rank) { return patterns::binomial_tree(rank, problem.ranks, 0); });
}

void outline(const Problem& problem, Outline& out) {
  rounds::down(out, problem.ranks, [&](Rank) { return rounds::number(problem.count); });
  if (is_staged(problem)) {
    out.copy(rounds::number(problem.count), Outline::Who::all, patterns::ceil_log2(problem.ranks));
  }
}

}  // namespace

extern const Algorithm one_sided_staged = {
    .collective = Collective::bcast,
    .name = "one_sided_staged",
    .summary = "data is put beside the target's memory before the target has called, and copied when it does",
    .paper = "",
    .steps = "ceil(log2 p)",
    .cost = "ceil(log2 p)(a + n b)",
    .scratch = "0",
    .restrictions = {.exposed = true},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
