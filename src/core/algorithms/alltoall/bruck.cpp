// Bruck's all-to-all with radix k: a block for the rank at distance d is routed by the digits of d to the base k, one
// position after another. In step (place, digit) every rank sends all blocks whose distance has that digit at that
// position, in one message. Blocks with one nonzero digit go directly from input to output; the others are stored in
// scratch and in the output alternately.
//
// Any number of ranks; two buffers; k is the width, as in bruck:4; default 2. Scratch: at most p n.

#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::alltoall {

namespace {

// Calls visit(place, digit) for each step, that is for the digits that occur in numbers below p.
template <class Visit>
void for_each_step(const Problem& problem, Visit&& visit) {
  for (std::int64_t place = 1; place < problem.ranks; place *= problem.width) {
    for (std::int64_t digit = 1; digit < problem.width && digit * place < problem.ranks; ++digit) visit(place, digit);
  }
}

int digits_in(std::int64_t distance, std::int64_t radix) {
  int digits = 0;
  for (; distance > 0; distance /= radix) digits += distance % radix != 0 ? 1 : 0;
  return digits;
}

// The number of distances below p with at least two nonzero digits.
std::int64_t stopovers(const Problem& problem) {
  std::int64_t direct = 0;
  for_each_step(problem, [&](std::int64_t, std::int64_t) { ++direct; });
  return problem.ranks - 1 - direct;
}

// The blocks routed through a rank, one per distance: their current region, and that of their next hop.
class BlocksInTransit {
 public:
  BlocksInTransit(Builder& builder, const Problem& problem) : problem_(problem) {
    const auto p = static_cast<std::size_t>(problem.ranks);
    now_.resize(p);
    hops_.resize(p);
    stopover_.resize(p);
    const Region scratch = builder.scratch(stopovers(problem) * problem.count);
    std::int64_t taken = 0;
    for (Rank distance = 1; distance < problem.ranks; ++distance) {
      const auto at = static_cast<std::size_t>(distance);
      now_[at] = problem.input_block(patterns::at_distance(problem.rank, distance, problem.ranks));
      hops_[at] = digits_in(distance, problem.width);
      if (hops_[at] > 1) stopover_[at] = scratch.part(problem.count * taken++, problem.count);
    }
  }

  Region leave(Rank distance) const { return now_[static_cast<std::size_t>(distance)]; }
  // The last hop ends in the output, the one before it in scratch, and so on.
  Region arrive(Rank distance) {
    const auto at = static_cast<std::size_t>(distance);
    const bool in_output = --hops_[at] % 2 == 0;
    const Rank from = patterns::at_distance(problem_.rank, -distance, problem_.ranks);
    return now_[at] = in_output ? problem_.output_block(from) : stopover_[at];
  }

 private:
  const Problem& problem_;
  std::vector<Region> now_;
  std::vector<int> hops_;  // remaining
  std::vector<Region> stopover_;
};

void build(Builder& builder, const Problem& problem) {
  builder.copy(problem.input_block(problem.rank), problem.output_block(problem.rank));
  BlocksInTransit blocks(builder, problem);
  for_each_step(problem, [&](std::int64_t place, std::int64_t digit) {
    std::vector<Region> leaving;
    std::vector<Region> arriving;
    for (Rank distance = 1; distance < problem.ranks; ++distance) {
      if (distance / place % problem.width != digit) continue;
      leaving.push_back(blocks.leave(distance));
      arriving.push_back(blocks.arrive(distance));
    }
    const auto stride = static_cast<Rank>(place * digit);
    builder.send(patterns::at_distance(problem.rank, stride, problem.ranks), leaving);
    builder.receive(patterns::at_distance(problem.rank, -stride, problem.ranks), arriving);
  });
}

std::int64_t scratch_units(const Problem& problem) {
  return stopovers(problem) * problem.count;
}

// Numbers below p with that digit at that position: in full cycles, and in the last one.
std::int64_t blocks_in_step(const Problem& problem, std::int64_t place, std::int64_t digit) {
  const std::int64_t round = place * problem.width;
  const std::int64_t last = problem.ranks % round - digit * place;
  return problem.ranks / round * place + (last > place ? place : last > 0 ? last : 0);
}

Prediction predict(const Problem& problem) {
  const std::int64_t p = problem.ranks;
  std::int64_t steps = 0;
  std::int64_t blocks = 0;
  for_each_step(problem, [&](std::int64_t place, std::int64_t digit) {
    ++steps;
    blocks += blocks_in_step(problem, place, digit);
  });
  return {.steps = steps, .messages = steps * p, .units = blocks * p * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  for_each_step(problem, [&](std::int64_t place, std::int64_t digit) {
    const double blocks = rounds::number(blocks_in_step(problem, place, digit) * problem.count);
    out.shift(static_cast<Rank>(place * digit), blocks);
  });
}

}  // namespace

extern const Algorithm bruck = {
    .collective = Collective::alltoall,
    .name = "bruck",
    .summary = "blocks are routed by the digits of their distance, many in one message",
    .paper = "Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications, 1997",
    .steps = "at most (k - 1) ceil(log_k p)",
    .cost = "steps a + steps p/k n b",
    .scratch = "at most p n",
    .restrictions = {.not_in_place = true},
    .gathers = true,
    .width = 2,
    .build = build,
    .predict = predict,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::alltoall
