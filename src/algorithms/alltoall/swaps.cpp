#include "algorithms/alltoall/swaps.hpp"

#include <algorithm>
#include <vector>

#include "patterns/ring.hpp"

namespace quadrille::alltoall {

namespace {

// Where the builder does not see how long blocks are, and nobody says how to cut them.
constexpr std::int64_t default_chunk = 65536;

std::int64_t chunk_of(const Problem& problem) {
  if (problem.segment > 0) return problem.segment;
  return problem.separate ? default_chunk : problem.count;
}

Rank lanes_of(const Problem& problem) {
  return std::clamp<Rank>(problem.width, 1, std::max<Rank>(1, problem.ranks - 1));
}

std::int64_t ring_of(const Problem& problem) {
  if (problem.separate) return problem.window * chunk_of(problem);
  return patterns::ring_units(problem.count, problem.segment, problem.window);
}

// Through the ring, once what used it before is done. Returns what the next one has to wait for.
std::vector<Added> swap_in_place(Builder& builder, const Problem& problem, Rank partner, const Region& ring,
                                 std::span<const Added> before) {
  const Region block = problem.output_block(partner);
  std::vector<Added> copies;
  const auto swap = [&](const Segment& segment) {
    const Region arrived = segment.in_ring(ring, problem.window);
    builder.receive(partner, arrived);
    const Added sent = builder.send(partner, segment.of(block));
    for (const Added& one : before) builder.after(sent, {one});
    copies.push_back(builder.copy(arrived, segment.of(block)));
  };
  if (problem.separate) {
    builder.for_each_chunk(block, chunk_of(problem), problem.window, swap);
  } else {
    builder.for_each_segment(problem.count, problem.segment, problem.window, swap);
  }
  return copies;
}

}  // namespace

std::int64_t scratch_to_swap(const Problem& problem) {
  return problem.in_place && problem.ranks > 1 ? lanes_of(problem) * ring_of(problem) : 0;
}

void swap_in_turn(Builder& builder, const Problem& problem, std::span<const Rank> partners) {
  builder.copy(problem.input_block(problem.rank), problem.output_block(problem.rank));
  const Rank lanes = lanes_of(problem);
  const std::int64_t units = scratch_to_swap(problem);
  const Region rings = units > 0 ? builder.scratch(units) : Region{};
  std::vector<std::vector<Added>> before(static_cast<std::size_t>(lanes));
  Rank lane = 0;
  for (const Rank partner : partners) {
    if (problem.in_place) {
      std::vector<Added>& last = before[static_cast<std::size_t>(lane)];
      const Region ring = units > 0 ? rings.part(lane * (units / lanes), units / lanes) : rings;
      last = swap_in_place(builder, problem, partner, ring, last);
    } else {
      builder.receive(partner, problem.output_block(partner));
      builder.send(partner, problem.input_block(partner));
    }
    lane = (lane + 1) % lanes;
    // In place the rings keep order among those that use them.
    if (lane == 0 && (lanes == 1 || !problem.in_place)) builder.fence();
  }
}

Prediction predict_swaps(const Problem& problem, std::int64_t steps) {
  const std::int64_t messages = std::int64_t{problem.ranks} * (problem.ranks - 1);
  const std::int64_t segments = problem.in_place ? patterns::segments(problem.count, chunk_of(problem)) : 1;
  return {.steps = lanes_of(problem) == 1 ? steps * segments : Prediction::not_said,
          .messages = messages * segments,
          .units = messages * problem.count};
}

}  // namespace quadrille::alltoall
