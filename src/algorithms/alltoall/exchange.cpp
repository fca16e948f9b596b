// All-to-all by swapping: in every round ranks meet in pairs and swap the blocks they have for each other, everybody
// with everybody once. In place, what comes in waits in scratch, a few segments at a time, until its place has been
// sent from.
//
// Steps: p - 1, for an odd p > 1 p; in place times m segments. Cost: steps (a + n b), n the largest block. Any number
// of ranks. Scratch: none, in place w segments for w in flight.

#include "algorithms/algorithm.hpp"
#include "patterns/ring.hpp"
#include "patterns/tournament.hpp"

namespace quadrille::alltoall {

namespace {

// Where the builder does not see how long blocks are, and nobody says how to cut them.
constexpr std::int64_t default_chunk = 65536;

std::int64_t chunk_of(const Problem& problem) {
  if (problem.segment > 0) return problem.segment;
  return problem.separate ? default_chunk : problem.count;
}

std::int64_t scratch_units(const Problem& problem) {
  if (!problem.in_place || problem.ranks == 1) return 0;
  if (problem.separate) return problem.window * chunk_of(problem);
  return patterns::ring_units(problem.count, problem.segment, problem.window);
}

void swap_in_place(Builder& builder, const Problem& problem, Rank peer, const Region& ring) {
  const Region block = problem.output_block(peer);
  const auto swap = [&](const Segment& segment) {
    const Region arrived = segment.in_ring(ring, problem.window);
    builder.receive(peer, arrived);
    builder.send(peer, segment.of(block));
    builder.copy(arrived, segment.of(block));
  };
  if (problem.separate) {
    builder.for_each_chunk(block, chunk_of(problem), problem.window, swap);
  } else {
    builder.for_each_segment(problem.count, problem.segment, problem.window, swap);
  }
}

void build(Builder& builder, const Problem& problem) {
  builder.copy(problem.input_block(problem.rank), problem.output_block(problem.rank));
  const std::int64_t units = scratch_units(problem);
  const Region ring = units > 0 ? builder.scratch(units) : Region{};
  for (Rank round = 0; round < patterns::tournament_rounds(problem.ranks); ++round) {
    const auto peer = patterns::tournament_partner(problem.rank, problem.ranks, round);
    if (!peer) continue;
    if (problem.in_place) {
      swap_in_place(builder, problem, *peer, ring);
    } else {
      builder.receive(*peer, problem.output_block(*peer));
      builder.send(*peer, problem.input_block(*peer));
    }
    builder.fence();
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t messages = std::int64_t{problem.ranks} * (problem.ranks - 1);
  const std::int64_t segments = problem.in_place ? patterns::segments(problem.count, chunk_of(problem)) : 1;
  return {.steps = patterns::tournament_rounds(problem.ranks) * segments,
          .messages = messages * segments,
          .units = messages * problem.count};
}

}  // namespace

extern constexpr Algorithm exchange = {
    .collective = Collective::alltoall,
    .name = "exchange",
    .summary = "in every round ranks meet in pairs and swap their blocks; in place through a little scratch",
    .paper = "",
    .steps = "p - 1, for an odd p > 1 p; in place times m",
    .cost = "steps (a + n b)",
    .scratch = "0; in place w segments",
    .restrictions = {},
    .segmented = true,
    .build = build,
    .predict = predict,
    .scratch_units = scratch_units,
};

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm exchange = twin(alltoall::exchange, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm exchange = twin(alltoall::exchange, Collective::alltoallw);

}  // namespace quadrille::alltoallw
