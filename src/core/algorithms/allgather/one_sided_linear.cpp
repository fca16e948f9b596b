// Linear one-sided allgather: every rank puts its block into the memory of every other, beginning with the next; short
// ones are deposited there, in a box for each rank.
//
// Data in a window, in place; any number of ranks. No scratch.

#include <vector>

#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::allgather {

namespace {

using one_sided::Transfer;

// The others, those right behind this rank first.
std::vector<Rank> others_of(const Problem& problem) {
  std::vector<Rank> others;
  for (Rank distance = 1; distance < problem.ranks; ++distance) {
    others.push_back(patterns::at_distance(problem.rank, distance, problem.ranks));
  }
  return others;
}

// Who may write to this rank knows it from its notice.
std::vector<Added> make_ready(Builder& builder, const Problem& problem, const one_sided::Notices& notices) {
  std::vector<Added> ready;
  for (Rank peer : others_of(problem)) builder.notify(peer, notices.of_target(problem.rank), 1);
  for (Rank peer : others_of(problem)) ready.push_back(builder.await(notices.of_target(peer), 1));
  return ready;
}

void push(Builder& builder, const Problem& problem, const one_sided::Notices& notices) {
  const std::vector<Rank> others = others_of(problem);
  const std::vector<Added> ready = make_ready(builder, problem, notices);
  const Region own = problem.output_block(problem.rank);
  for (std::size_t i = 0; i < others.size(); ++i) {
    builder.after(builder.put(others[i], own, builder.at(others[i], own)), {ready[i]});
  }
  for (Rank peer : others) {
    const Added arrived = builder.flush(peer);
    builder.after(builder.notify(peer, notices.of_source(problem.rank), 1), {arrived});
  }
  for (Rank peer : others) builder.await(notices.of_source(peer), 1);
}

void deposit(Builder& builder, const Problem& problem, const one_sided::Notices& notices) {
  const std::vector<Rank> others = others_of(problem);
  const std::vector<Added> ready = make_ready(builder, problem, notices);
  std::vector<Region> boxes;
  for (Rank peer = 0; peer < problem.ranks; ++peer) boxes.push_back(builder.box(problem.count));
  const Region own = problem.output_block(problem.rank);
  for (std::size_t i = 0; i < others.size(); ++i) {
    builder.after(builder.deposit(others[i], own, boxes[static_cast<std::size_t>(problem.rank)]), {ready[i]});
  }
  for (Rank peer : others) builder.collect(boxes[static_cast<std::size_t>(peer)], problem.output_block(peer));
}

void pull(Builder& builder, const Problem& problem, const one_sided::Notices& notices) {
  const std::vector<Rank> others = others_of(problem);
  for (Rank peer : others) builder.notify(peer, notices.of_source(problem.rank), 1);
  for (Rank peer : others) {
    const Added there = builder.await(notices.of_source(peer), 1);
    const Region block = problem.output_block(peer);
    const Added got = builder.get(peer, builder.at(peer, block), block);
    builder.after(got, {there});
    builder.after(builder.notify(peer, notices.of_target(problem.rank), 1), {got});
  }
  for (Rank peer : others) builder.await(notices.of_target(peer), 1);
}

void build(Builder& builder, const Problem& problem) {
  if (problem.count == 0 || problem.ranks == 1) return;
  const one_sided::Notices notices(builder, problem, 1);
  switch (one_sided::transfer_of(problem, problem.ranks)) {
    case Transfer::push:
      return push(builder, problem, notices);
    case Transfer::deposit:
      return deposit(builder, problem, notices);
    case Transfer::pull:
      return pull(builder, problem, notices);
  }
}

void outline(const Problem& problem, Outline& out) {
  out.all_pairs(rounds::number(problem.count), rounds::in_flight);
}

}  // namespace

extern const Algorithm one_sided_linear = {
    .collective = Collective::allgather,
    .name = "one_sided_linear",
    .summary = "every rank puts its block into the window of every other",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {.in_place = true, .exposed = true},
    .build = build,
    .predict = predict_rotation,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::allgather
