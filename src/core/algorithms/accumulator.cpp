#include "algorithms/accumulator.hpp"

namespace quadrille {

Accumulator::Accumulator(Builder& builder, const Problem& problem)
    : builder_(builder), problem_(problem), value_(problem.input) {
  if (problem.has_output()) places_.push_back(problem.output);
}

// A buffer that is neither the value's nor the caller's input nor `other`, if that is not null.
Region Accumulator::place_apart_from(const Region* other) {
  for (const Region& place : places_) {
    if (place != value_ && (!other || place != *other)) return place;
  }
  return places_.emplace_back(builder_.scratch(problem_.count));
}

void Accumulator::combine(std::span<const Range> parts, Side side, bool either_order) {
  const Region room = spare();
  const Region mine = value_;
  const bool mine_is_writable = problem_.in_place || mine != problem_.input;
  if (mine_is_writable && (side == Side::lower || either_order)) {
    for (const Range& part : parts) builder_.reduce(room.part(part), mine.part(part), mine.part(part));
  } else if (side == Side::higher || either_order) {
    for (const Range& part : parts) builder_.reduce(mine.part(part), room.part(part), room.part(part));
    value_ = room;
  } else {
    // The right operand is the caller's input: the result needs a third buffer.
    const Region third = place_apart_from(&room);
    for (const Range& part : parts) builder_.reduce(room.part(part), mine.part(part), third.part(part));
    value_ = third;
  }
}

void Accumulator::deliver(Range part) {
  builder_.copy(value(part), problem_.output.part(part));
  value_ = problem_.output;
}

void combine_children(Builder& builder, const Problem& problem, const std::vector<Rank>& children,
                      Accumulator::Side side, Accumulator& result) {
  const Range all{0, problem.count};
  for (Rank child : children) {
    builder.receive(child, result.incoming(all));
    result.combine(all, side);
  }
}

void reduce_by_tree(Builder& builder, const Problem& problem, const std::optional<Rank>& parent,
                    const std::vector<Rank>& children, Accumulator::Side side, Rank top) {
  const Range all{0, problem.count};
  Accumulator result(builder, problem);
  combine_children(builder, problem, children, side, result);
  if (parent) {
    builder.send(*parent, result.value(all));
  } else if (top == problem.root) {
    result.deliver(all);
  } else {
    builder.send(problem.root, result.value(all));
  }
  if (problem.rank == problem.root && top != problem.root) builder.receive(top, problem.output);
}

void combine_represented(Builder& builder, const Problem& problem, const patterns::Hypercube& cube,
                         Accumulator& result) {
  const auto represented = cube.represents(problem.rank);
  if (!represented) return;
  const Range all{0, problem.count};
  builder.receive(*represented, result.incoming(all));
  result.combine(all, *represented);
}

}  // namespace quadrille
