#include "select/case.hpp"

#include <algorithm>
#include <limits>

#include "select/budget.hpp"

namespace quadrille {

namespace {

// What is more than 64 bits can count is as good as the most that they can.
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

bool blocks_differ(Collective collective) {
  return collective == Collective::allgatherv || traits(collective).counts_differ;
}

// Units of a rank's data, or of one block, where all are alike. Each rank looks at what it has.
std::int64_t count_of(const LocalCall& call) {
  const Traits& of = traits(call.collective);
  if (of.reduces) return call.output.count;
  const bool own_input = call.input.significant && of.input == Traits::Side::own;
  const LocalCall::Side& side = own_input || !call.output.significant ? call.input : call.output;
  return product(side.count, side.type_bytes);
}

}  // namespace

bool sizes_are_known(Collective collective) {
  return !traits(collective).separate_blocks || blocks_differ(collective);
}

std::int64_t Case::count_bytes() const {
  return product(count, unit_bytes);
}

std::int64_t Case::bytes() const {
  const Traits& of = traits(collective);
  if (collective == Collective::allgatherv) return count / ranks;
  const bool block_of_many = of.input == Traits::Side::all && !of.rooted && !of.counts_differ;
  return block_of_many ? product(count_bytes(), ranks) : count_bytes();
}

std::int64_t LocalCall::bytes(const Side& side, bool of_all_ranks, Rank ranks) {
  if (!side.significant) return 0;
  return product(side.counted ? side.total : product(side.count, of_all_ranks ? ranks : 1), side.type_bytes);
}

std::int64_t LocalCall::bytes(Rank ranks) const {
  const Traits& of = traits(collective);
  if (of.counts_differ) return bytes(output, true, ranks);
  return input.significant ? bytes(input, of.input == Traits::Side::all, ranks)
                           : bytes(output, of.output == Traits::Side::all, ranks);
}

Case case_of(const LocalCall& call, const Placement& placement) {
  const Traits& of = traits(call.collective);
  Case asked{.collective = call.collective,
             .form = call.form,
             .in_place = call.in_place && of.input == Traits::Side::all && !of.rooted && !of.reduces,
             .ranks = placement.ranks,
             .nodes = placement.nodes,
             .ranks_per_node = placement.ranks_per_node,
             .root = of.rooted ? call.root : 0};
  if (of.reduces) {
    asked.commutative = call.commutative;
    asked.fixed_order = call.fixed_order;
    asked.operation = call.operation;
    asked.unit_bytes = call.output.type_bytes;
    asked.unit_extent = call.output.type_extent;
  }
  if (blocks_differ(call.collective)) {
    const std::int64_t unit = of.reduces ? 1 : call.output.type_bytes;
    asked.count = product(call.output.total, unit);
    asked.largest = product(call.output.largest, unit);
  } else if (of.moves_data() && !of.separate_blocks) {
    asked.count = asked.largest = count_of(call);
  }
  // Partners that swap blocks of any size agree on what each of them has.
  const bool own_memory = asked.in_place && !sizes_are_known(call.collective);
  asked.memory = own_memory ? 0 : call.memory;
  if (asked.memory == 0 && call.collective == Collective::alltoall && asked.in_place) {
    asked.memory = Budget::in_place(product(asked.count, placement.ranks)).bytes();
  }
  return asked;
}

Case case_of_bytes(Collective collective, std::int64_t bytes, const Placement& placement) {
  const Traits& of = traits(collective);
  Case asked{.collective = collective,
             .ranks = placement.ranks,
             .nodes = placement.nodes,
             .ranks_per_node = placement.ranks_per_node};
  if (of.reduces) asked.operation = 0;  // one that MPI predefines
  if (of.reduces && bytes % 8 == 0) asked.unit_bytes = asked.unit_extent = 8;
  const std::int64_t units = bytes / asked.unit_bytes;
  const bool cut = of.input == Traits::Side::all && !of.rooted;
  const std::int64_t block = cut && units > 0 ? std::max<std::int64_t>(1, units / placement.ranks) : units;
  asked.largest = block;
  asked.count = blocks_differ(collective) ? block * placement.ranks : block;
  return asked;
}

}  // namespace quadrille
