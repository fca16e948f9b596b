// Recursive doubling exclusive scan: ranks exchange their partial results across one dimension of a hypercube after
// another; those from lower ranks are also combined into the result.
//
// Any number of ranks, any operation. Scratch: 2 n; in place 3 n.

#include <utility>

#include "algorithms/prefix.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::exscan {

namespace {

void build(Builder& builder, const Problem& problem) {
  bool first = true;
  prefix_by_doubling(builder, problem, [&](const Region& arrived) {
    if (std::exchange(first, false)) {
      builder.copy(arrived, problem.output);
    } else {
      builder.reduce(arrived, problem.output, problem.output);
    }
  });
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  rounds::across(
      out, problem.ranks, [&](Rank) { return n; }, 2);
  if (patterns::Hypercube(problem.ranks).extra() > 0) out.exchange(patterns::Hypercube(problem.ranks).corners(), n);
}

}  // namespace

extern const Algorithm recursive_doubling = {
    .collective = Collective::exscan,
    .name = "recursive_doubling",
    .summary = "partial results are exchanged across the dimensions of a hypercube",
    .paper = "Hillis, Steele: Data parallel algorithms, 1986",
    .steps = "ceil(log2 p)",
    .cost = "ceil(log2 p)(a + n b) + (ceil(log2 p) + floor(log2 p) - 2) n c",
    .scratch = "2 n; in place 3 n",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict_prefix_by_doubling,
    .scratch_units = prefix_by_doubling_scratch_units,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::exscan
