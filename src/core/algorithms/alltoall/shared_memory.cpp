// All-to-all in place with blocks of any sizes, through the memory of a node: in every round of a tournament the ranks
// swap blocks in pairs. Both copy a piece of theirs into their slots, and then the other's piece to where theirs was.
//
// Steps: one for each piece. Any number of ranks of one node that share memory. No scratch.

#include <optional>

#include "algorithms/algorithm.hpp"
#include "algorithms/node.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/tournament.hpp"

namespace quadrille::alltoallv {

namespace {

constexpr std::int32_t places = node::Cut::least_places;

std::int64_t piece_of(const Problem& problem) {
  constexpr std::int64_t aligned = 64;
  const std::int64_t piece = problem.room / places;
  return piece > aligned ? piece / aligned * aligned : piece;
}

void build(Builder& builder, const Problem& problem) {
  const Rank rounds = patterns::tournament_rounds(problem.ranks);
  if (rounds == 0) return;
  // Nobody knows how many pieces other pairs have: each round has a part of the counters' values, of the same size for
  // all, and at its end a rank goes on to the next part.
  const std::int64_t span = most_counter_span / (rounds + 1);
  const Region slot = builder.slot(places * piece_of(problem));
  const std::int32_t filled = builder.counter(rounds * span);
  const std::int32_t emptied = builder.counter(rounds * span);
  const auto place = [&](Rank owner, const Segment& segment) {
    return segment.in_ring(builder.slot_of(owner, slot.block, slot.length), places);
  };
  std::optional<Rank> last;  // that may still read this rank's slot
  std::int64_t last_end = 0;
  for (Rank round = 0; round < rounds; ++round) {
    const std::int64_t begin = round * span;
    // All before is done; also said in a round without a partner.
    if (round > 0) builder.publish(emptied, begin);
    const std::optional<Rank> partner = patterns::tournament_partner(problem.rank, problem.ranks, round);
    if (!partner) continue;
    if (last) builder.wait(*last, emptied, last_end);
    builder.fence();
    const Region block = problem.output_block(*partner);
    builder.for_each_chunk(block, piece_of(problem), places, [&](const Segment& segment) {
      builder.in_order([&] {
        builder.wait(*partner, emptied, begin + 1 - places, 1);
        builder.copy(segment.of(block), place(problem.rank, segment));
        builder.publish(filled, begin + 1, 1);
        builder.wait(*partner, filled, begin + 1, 1);
        builder.copy(place(*partner, segment), segment.of(block));
        builder.publish(emptied, begin + 1, 1);
      });
    });
    builder.fence();
    last = partner;
    last_end = begin + span;
  }
  builder.publish(emptied, rounds * span);
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  out.copy(n, Outline::Who::all, problem.ranks - 1);
  out.flag();
  out.copy(n, Outline::Who::all, problem.ranks - 1);
}

}  // namespace

extern constexpr Algorithm shared_memory = {
    .collective = Collective::alltoallv,
    .name = "shared_memory",
    .summary = "in every round the ranks of a node swap blocks in pairs, a piece at a time, through shared memory",
    .paper = "",
    .steps = "by pieces",
    .cost = "by pieces",
    .scratch = "0",
    .restrictions = {.in_place = true, .one_node = true, .trusts_lengths = true},
    .hierarchical = true,
    .build = build,
    .predict = nullptr,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm shared_memory = twin(alltoallv::shared_memory, Collective::alltoallw);

}  // namespace quadrille::alltoallw
