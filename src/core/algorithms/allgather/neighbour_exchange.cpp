// Neighbour exchange (Chen et al.): pairs of neighbours exchange their blocks; then each rank alternates between its
// two neighbours and exchanges the two blocks it received last. Half the steps of the ring, with messages between
// neighbours only.
//
// An even number of ranks. No scratch.

#include <array>

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::allgather {

namespace {

void build(Builder& builder, const Problem& problem) {
  const Rank p = problem.ranks;
  builder.copy(problem.input, problem.output_block(problem.rank));
  if (p == 1) return;
  // An even rank starts with the next one, an odd one with the previous one.
  const bool even = problem.rank % 2 == 0;
  const Rank partner = even ? problem.rank + 1 : problem.rank - 1;
  const std::array<Rank, 2> peers = {partner, patterns::at_distance(problem.rank, even ? -1 : 1, p)};
  builder.send(partner, problem.input);
  builder.receive(partner, problem.output_block(partner));

  // A pair of blocks is identified by the first, which is even. Each exchange with a side brings the next pair from
  // there.
  const Rank mine = even ? problem.rank : partner;
  std::array<Rank, 2> coming = {mine, mine};
  const std::array<Rank, 2> direction = even ? std::array<Rank, 2>{2, -2} : std::array<Rank, 2>{-2, 2};
  Rank going = mine;
  for (Rank step = 1; step < p / 2; ++step) {
    const auto side = static_cast<std::size_t>(step % 2);
    coming[side] = patterns::at_distance(coming[side], direction[side], p);
    builder.send(peers[side], problem.output_blocks(going, 2));
    builder.receive(peers[side], problem.output_blocks(coming[side], 2));
    going = coming[side];
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t p = problem.ranks;
  return {.steps = p / 2, .messages = p * (p / 2), .units = p * (p - 1) * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  out.shift(1, n);
  if (problem.ranks > 2) out.shift(1, 2 * n, 0.5 * problem.ranks - 1);
}

}  // namespace

extern constexpr Algorithm neighbour_exchange = {
    .collective = Collective::allgather,
    .name = "neighbour_exchange",
    .summary = "neighbours exchange the two blocks received last, alternately to the left and to the right",
    .paper =
        "Chen, Zhang, Zhang, Yuan: Performance evaluation of allgather algorithms on Terascale Linux cluster, 2005",
    .steps = "p/2",
    .cost = "p/2 a + (p - 1) n b",
    .scratch = "0",
    .restrictions = {.even_ranks = true},
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::allgather

namespace quadrille::allgatherv {

extern const Algorithm neighbour_exchange = [] {
  Algorithm algorithm = twin(allgather::neighbour_exchange, Collective::allgatherv);
  algorithm.gathers = true;  // blocks are not contiguous: the two of a message are two regions
  algorithm.offered = false;
  return algorithm;
}();

}  // namespace quadrille::allgatherv
