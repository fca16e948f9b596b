#include "algorithms/alltoall/swaps.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::alltoall {

namespace {

// The segment if the size of blocks is unknown and none is given.
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

// One of the concurrent partners: what its successor has to wait for.
using Last = std::vector<Added>;

// Swaps a block in parts, each by swap(segment), which returns its last operation.
template <class Swap>
Last in_parts(Builder& builder, const Problem& problem, const Region& block, Swap&& swap) {
  Last last;
  const auto part = [&](const Segment& segment) { last.push_back(swap(segment)); };
  if (problem.separate) return {builder.for_each_chunk(block, chunk_of(problem), problem.window, part)};
  builder.for_each_segment(problem.count, problem.segment, problem.window, part);
  return last;
}

// A signal from the higher rank that it is there, so that MPI keeps nothing for one that is late; none for an empty
// block.
template <class Signal>
Added demand(Builder& builder, const Problem& problem, const Region& block, Signal&& signal) {
  Added added;
  if (problem.separate) {
    builder.unless_empty(block, [&] { added = signal(); });
  } else if (problem.count > 0) {
    added = signal();
  }
  return added;
}

void after_all(Builder& builder, Added step, const Last& before) {
  for (const Added& one : before) builder.after(step, {one});
}

// The lower rank sends first, and receives into the places it has sent from.
Last send_first(Builder& builder, const Problem& problem, Rank partner, const Last& before) {
  const Region block = problem.output_block(partner);
  const Added demanded = demand(builder, problem, block, [&] { return builder.receive_signal(partner); });
  return in_parts(builder, problem, block, [&](const Segment& segment) {
    const Added sent = builder.send(partner, segment.of(block));
    builder.after(sent, {demanded});
    after_all(builder, sent, before);
    return builder.receive(partner, segment.of(block));
  });
}

// The higher rank keeps received data in scratch until it has sent from its place. It sends as much as has come.
Last receive_first(Builder& builder, const Problem& problem, Rank partner, const Region& ring, const Last& before) {
  const Region block = problem.output_block(partner);
  demand(builder, problem, block, [&] {
    const Added signal = builder.send_signal(partner);
    after_all(builder, signal, before);
    return signal;
  });
  return in_parts(builder, problem, block, [&](const Segment& segment) {
    const Region arrived = segment.in_ring(ring, problem.window);
    const Added received = builder.receive(partner, arrived);
    builder.after(builder.send(partner, segment.of(block)), {received});
    return builder.copy(arrived, segment.of(block));
  });
}

void swap_in_place(Builder& builder, const Problem& problem, std::span<const Rank> partners) {
  const Rank lanes = lanes_of(problem);
  const std::int64_t units = scratch_to_swap(problem);
  const Region rings = units > 0 ? builder.scratch(units) : Region{};
  const auto ring = [&](Rank lane) { return units > 0 ? rings.part(lane * (units / lanes), units / lanes) : rings; };
  // Partners to whom it sends first need no scratch, so there may be several.
  constexpr Rank few = 4;
  const Rank wide = lanes == 1 ? 1 : std::max(lanes, few);
  std::vector<Last> first(static_cast<std::size_t>(wide));
  std::vector<Last> second(static_cast<std::size_t>(lanes));
  Rank sends = 0;
  Rank receives = 0;
  for (const Rank partner : partners) {
    if (problem.rank < partner) {
      Last& last = first[static_cast<std::size_t>(sends++ % wide)];
      last = send_first(builder, problem, partner, last);
    } else {
      const Rank lane = receives++ % lanes;
      Last& last = second[static_cast<std::size_t>(lane)];
      last = receive_first(builder, problem, partner, ring(lane), last);
    }
    if (lanes == 1) builder.fence();
  }
}

}  // namespace

std::int64_t scratch_to_swap(const Problem& problem) {
  return problem.in_place && problem.ranks > 1 ? lanes_of(problem) * ring_of(problem) : 0;
}

void swap_in_turn(Builder& builder, const Problem& problem, std::span<const Rank> partners) {
  if (problem.in_place) {
    swap_in_place(builder, problem, partners);
    return;
  }
  builder.copy(problem.input_block(problem.rank), problem.output_block(problem.rank));
  Rank met = 0;
  for (const Rank partner : partners) {
    builder.receive(partner, problem.output_block(partner));
    builder.send(partner, problem.input_block(partner));
    if (++met % lanes_of(problem) == 0) builder.fence();
  }
}

// In place the higher one of two ranks demands data first, and is one segment behind: it sends as much as has come.
void outline_swaps(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  if (!problem.in_place) return out.all_pairs(n, lanes_of(problem));
  const double segments = rounds::number(patterns::segments(problem.count, chunk_of(problem)));
  out.all_pairs(0, lanes_of(problem));
  out.all_pairs(n / segments, lanes_of(problem));
  out.all_pairs(n, lanes_of(problem));
  out.copy(n / 2, Outline::Who::all, problem.ranks - 1);
}

Prediction predict_swaps(const Problem& problem, std::int64_t steps) {
  const std::int64_t messages = std::int64_t{problem.ranks} * (problem.ranks - 1);
  const std::int64_t segments = problem.in_place ? patterns::segments(problem.count, chunk_of(problem)) : 1;
  // In place the higher rank demands data first, and is one segment behind.
  const bool demands = problem.in_place && problem.count > 0;
  const std::int64_t each = problem.in_place ? segments + (demands ? 2 : 1) : 1;
  return {.steps = lanes_of(problem) == 1 ? steps * each : Prediction::unknown_steps,
          .messages = messages * segments + (demands ? messages / 2 : 0),
          .units = messages * problem.count};
}

}  // namespace quadrille::alltoall
