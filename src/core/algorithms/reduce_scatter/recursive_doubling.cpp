// Recursive doubling reduce-scatter, as MPICH and Open MPI have it: in step k blocks of 2^k ranks exchange all that
// they have combined but the shares of their own block, which the other one does not need. Where the next block is not
// complete, ranks that have found a partner in it hand on what they got. Neighbouring blocks are combined, so rank
// order is preserved. Few steps, much data: for short vectors.
//
// Any number of ranks, any operation. Scratch: 2 p n.

#include <algorithm>

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/reduce_scatter/whole_vector.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/handing_on.hpp"

namespace quadrille::reduce_scatter {

namespace {

// The shares of all ranks but a block.
std::vector<Range> beyond(const Problem& problem, Rank first, Rank block) {
  const Rank last = std::min(first + block, problem.ranks) - 1;
  return {{0, problem.share(first).begin}, {problem.share(last).end, problem.total()}};
}

void build(Builder& builder, const Problem& problem) {
  const Rank p = problem.ranks;
  const Problem vector = whole_vector(problem);
  const Range all{0, vector.count};
  Accumulator result(builder, vector);
  for (Rank block = 1; block < p; block *= 2) {
    const Rank mine = problem.rank / block * block;
    const Rank other = mine ^ block;
    const Rank partner = problem.rank ^ block;
    if (other >= p) continue;
    const std::vector<Region> coming = regions(result.incoming(all), beyond(problem, other, block));
    if (partner < p) {
      builder.send(partner, regions(result.value(all), beyond(problem, mine, block)));
      builder.receive(partner, coming);
    }
    if (mine < other) {
      for (const auto& [peer, sends] : patterns::handing_on(problem.rank, block, std::min(block, p - other))) {
        sends ? builder.send(peer, coming) : builder.receive(peer, coming);
      }
    }
    // What is still needed: this rank's share, and those that both blocks together will send.
    std::vector<Range> needed = beyond(problem, std::min(mine, other), 2 * block);
    needed.push_back(problem.share(problem.rank));
    result.combine(needed, mine < other ? Accumulator::Side::higher : Accumulator::Side::lower);
  }
  builder.copy(result.value(problem.share(problem.rank)), problem.output);
}

Prediction predict(const Problem& problem) {
  const Rank p = problem.ranks;
  Prediction all{.steps = Prediction::unknown_steps};
  const auto add = [&](std::int64_t times, Rank first, Rank block) {
    std::int64_t units = 0;
    for (const Range& part : beyond(problem, first, block)) units += part.end - part.begin;
    all.messages += units > 0 ? times : 0;
    all.units += times * units;
  };
  for (Rank block = 1; block < p; block *= 2) {
    for (Rank first = 0; first + block < p; first += 2 * block) {
      const Rank next = first + block;
      add(std::min(block, p - next), first, block);  // to the next block
      add(block, next, block);                       // from it, and handed on
    }
  }
  return all;
}

void outline(const Problem& problem, Outline& out) {
  const double share = rounds::number(problem.total()) / problem.ranks;
  for (Rank block = 1; block < problem.ranks; block *= 2) {
    out.exchange(block, share * (problem.ranks - block));
    out.reduce(share * (1 + std::max(0, problem.ranks - 2 * block)));
  }
}

}  // namespace

extern constexpr Algorithm recursive_doubling = {
    .collective = Collective::reduce_scatter,
    .name = "recursive_doubling",
    .summary = "blocks of ranks exchange all but their own shares, and double in each step",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "at most 3 ceil(log2 p)",
    .cost = "at most log2 p a + (p log2 p - p + 1) n b + (p log2 p + log2 p - 2 p + 2) n c, for a power of two",
    .scratch = "2 p n",
    .restrictions = {},
    .logarithmic = true,
    .gathers = true,
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = whole_vector_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce_scatter

namespace quadrille::reduce_scatter_block {

extern const Algorithm recursive_doubling = twin(reduce_scatter::recursive_doubling, Collective::reduce_scatter_block);

}  // namespace quadrille::reduce_scatter_block
