// Pipelined chain reduce: segments of partial results move along a chain of ranks, each combining its own. The chain
// ends at the root; if the operation is not commutative, or rank order is required, it runs from rank 0 to the last
// rank, which sends the result to the root. That reduces from left to right.
//
// Any number of ranks, any operation; supports rank order. Scratch: 2 w n/m for w segments in flight; n at the last
// rank if it sends the result to the root.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::reduce {

namespace {

Rank last_of(const Problem& problem) {
  return problem.commutative ? problem.root : problem.ranks - 1;
}

// Segments that wait to be combined or sent.
std::int64_t ring_units(const Problem& problem) {
  return patterns::ring_units(problem.count, problem.segment, problem.window);
}

void build(Builder& builder, const Problem& problem) {
  const Rank last = last_of(problem);
  const bool passes_on = problem.rank == last && last != problem.root;
  const patterns::Tree line =
      patterns::chain(problem.rank, problem.ranks, patterns::at_distance(last, 1, problem.ranks));
  if (problem.ranks == 1) builder.copy(problem.input, problem.output);
  if (problem.ranks == 1 || problem.count == 0) return;

  // The result of a rank without an output overwrites the received data or, to preserve the operand order, is stored
  // elsewhere.
  Region arrivals;
  Region results = problem.output;
  if (line.parent) arrivals = builder.scratch(ring_units(problem));
  const bool apart = line.parent && !problem.has_output() && !problem.commutative;
  if (apart) results = builder.scratch(passes_on ? problem.count : ring_units(problem));

  builder.for_each_segment(problem.count, problem.segment, problem.window, [&](const Segment& segment) {
    const Region mine = segment.of(problem.input);
    Region result = mine;
    if (line.parent) {
      const Region arrived = segment.in_ring(arrivals, problem.window);
      builder.receive(*line.parent, arrived);
      if (problem.has_output() || apart) {
        const bool kept = problem.has_output() || passes_on;
        result = kept ? segment.of(results) : segment.in_ring(results, problem.window);
        builder.reduce(arrived, mine, result);
      } else {
        result = arrived;
        builder.reduce(mine, arrived, result);
      }
    }
    for (Rank next : line.children) builder.send(next, result);
  });

  if (last == problem.root) return;
  builder.for_each_segment(problem.count, problem.segment, problem.window, [&](const Segment& segment) {
    if (passes_on) builder.send(problem.root, segment.of(results));
    if (problem.rank == problem.root) builder.receive(last, segment.of(problem.output));
  });
}

std::int64_t scratch_units(const Problem& problem) {
  if (problem.ranks == 1) return 0;
  const std::int64_t ring = ring_units(problem);
  if (problem.commutative) return ring;
  return ring + (last_of(problem) == problem.root ? ring : problem.count);
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t segments = patterns::segments(problem.count, problem.segment);
  const std::int64_t detour = last_of(problem) == problem.root ? 0 : 1;
  const std::int64_t back = detour * (segments - patterns::overlapping_steps(problem.count, problem.segment));
  return {.steps = others == 0 ? 0 : others - 1 + segments + back,
          .messages = (others + detour) * segments,
          .units = (others + detour) * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double segment = rounds::segment_units(problem);
  const bool passes_on = last_of(problem) != problem.root;
  out.pipeline(rounds::segments(problem),
               [&] { out.chain(segment, {.hops = rounds::number(problem.ranks - 1), .reduced = segment}); });
  if (passes_on) out.pipeline(rounds::segments(problem), [&] { out.chain(segment, {.hops = 1}); });
}

}  // namespace

extern const Algorithm pipelined_chain = {
    .collective = Collective::reduce,
    .name = "pipelined_chain",
    .summary = "segments of partial results move along a chain of ranks, each combining its own",
    .paper = "",
    .steps = "p - 2 + m, + m if not commutative and the root is not the last rank",
    .cost = "steps (a + n/m b) + (p - 2 + m) n/m c",
    .scratch = "2 w n/m; n at the last rank if it passes the result on",
    .restrictions = {},
    .segmented = true,
    .fixed_order = true,
    .build = build,
    .predict = predict,
    .scratch_units = scratch_units,
    .outline = outline,
};

}  // namespace quadrille::reduce
