// Segmented ring allreduce: the ring on consecutive stretches of p segments, so that messages have a fixed size and a
// rank reduces one segment while the next is in flight.
//
// Any number of ranks; commutative operations. Scratch: none; in place four segments.

#include <algorithm>

#include "algorithms/catalogue.hpp"
#include "patterns/ring.hpp"

namespace quadrille::allreduce {

namespace {

const Algorithm& ring_part() {
  return *find_algorithm(Collective::allreduce, "ring");
}

std::int64_t stretch_of(const Problem& problem) {
  return problem.segment * problem.ranks;
}

void build(Builder& builder, const Problem& problem) {
  builder.for_each_segment(problem.count, stretch_of(problem), problem.window, [&](const Segment& stretch) {
    Problem part = problem;
    part.count = stretch.length;
    part.input = stretch.of(problem.input);
    part.output = stretch.of(problem.output);
    ring_part().build(builder, part);
  });
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t stretches = patterns::segments(problem.count, stretch_of(problem));
  // A last stretch of fewer than p units has only so many shares.
  const std::int64_t rest = problem.count - (stretches - 1) * stretch_of(problem);
  const std::int64_t shares = (stretches - 1) * problem.ranks + std::min<std::int64_t>(rest, problem.ranks);
  return {.steps = 2 * others * stretches, .messages = 2 * others * shares, .units = 2 * others * problem.count};
}

std::int64_t scratch_units(const Problem& problem) {
  // The stretch of the loop, and the rest after it.
  Problem stretch = problem;
  const bool cut = patterns::segments(problem.count, stretch_of(problem)) > 1;
  if (cut) stretch.count = stretch_of(problem);
  return (cut ? 2 : 1) * ring_part().scratch_units(stretch);
}

void outline(const Problem& problem, Outline& out) {
  const std::int64_t stretches = patterns::segments(problem.count, stretch_of(problem));
  Problem part = problem;
  part.count = (problem.count + stretches - 1) / stretches;
  out.pipeline(stretches, [&] { ring_part().outline(part, out); });
}

}  // namespace

extern const Algorithm segmented_ring = {
    .collective = Collective::allreduce,
    .name = "segmented_ring",
    .summary = "the ring on consecutive stretches of p segments",
    .paper = "Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, 2007",
    .steps = "2(p - 1) ceil(m/p)",
    .cost = "2(p - 1) ceil(m/p) a + 2 (p - 1)/p n b + (p - 1)/p n c",
    .scratch = "0; in place 4 segments",
    .restrictions = {.commutative = true},
    .segmented = true,
    .build = build,
    .predict = predict,
    .scratch_units = scratch_units,
    .outline = outline,
};

}  // namespace quadrille::allreduce
