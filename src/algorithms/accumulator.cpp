#include "algorithms/accumulator.hpp"

namespace quadrille {

Accumulator::Accumulator(Builder& builder, const Problem& problem)
    : builder_(builder), problem_(problem), value_(problem.input) {}

// A place that is neither the value's nor the caller's input.
Region Accumulator::spare() {
  if (value_ != problem_.output) return problem_.output;
  if (!scratch_) scratch_ = builder_.scratch(problem_.count);
  return *scratch_;
}

Region Accumulator::incoming(Range part) {
  return spare().part(part);
}

void Accumulator::combine(Range part, Side side, bool either_order) {
  const Region arrived = incoming(part);
  const Region mine = value(part);
  const bool mine_is_writable = problem_.in_place || value_ != problem_.input;
  if (mine_is_writable && (side == Side::lower || either_order)) {
    builder_.reduce(arrived, mine, mine);
  } else if (side == Side::higher || either_order) {
    builder_.reduce(mine, arrived, arrived);
    value_ = spare();
  } else {
    // The right operand is the caller's input: the result goes to a third place.
    if (!scratch_) scratch_ = builder_.scratch(problem_.count);
    builder_.reduce(arrived, mine, scratch_->part(part));
    value_ = *scratch_;
  }
}

void Accumulator::deliver(Range part) {
  builder_.copy(value(part), problem_.output.part(part));
  value_ = problem_.output;
}

std::int64_t Accumulator::scratch_units(const Problem& problem) {
  return problem.ranks > 1 ? problem.count : 0;
}

}  // namespace quadrille
