#pragma once

#include <optional>
#include <vector>

#include "compose/problem.hpp"
#include "patterns/ring.hpp"

namespace quadrille {

// A reduction of operands from left to right.
class LeftFold {
 public:
  explicit LeftFold(Builder& builder) : builder_(builder) {}

  // Stores the result in `target`: the operand itself if it may be overwritten, or a disjoint region.
  void add(const Region& operand, const Region& target) {
    if (value_) builder_.reduce(*value_, operand, target);
    value_ = value_ ? target : operand;
  }
  const Region& value() const { return *value_; }

 private:
  Builder& builder_;
  std::optional<Region> value_;
};

// Scratch blocks used in turn, so that one operand is received while the previous one is combined.
class Rotation {
 public:
  Rotation(Builder& builder, std::int64_t units) : builder_(builder), units_(units) {}

  Region next() {
    const std::size_t place = turn_++ % blocks;
    if (place == places_.size()) places_.push_back(builder_.scratch(units_));
    return places_[place];
  }

  static constexpr std::int64_t blocks = 3;

 private:
  Builder& builder_;
  std::int64_t units_;
  std::vector<Region> places_;
  std::size_t turn_ = 0;
};

// Every rank sends every other rank its share of the input, and reduces those it receives and its own into `target`, in
// rank order. `share_of` returns the range of a rank.
template <class ShareOf>
void exchange_and_fold(Builder& builder, const Problem& problem, ShareOf&& share_of, const Region& target) {
  const Region mine = problem.input.part(share_of(problem.rank));
  std::vector<Region> operands(static_cast<std::size_t>(problem.ranks), mine);
  const Region scratch = builder.scratch(problem.ranks * mine.length);
  const auto place_for = [&](Rank rank) { return scratch.part(rank * mine.length, mine.length); };
  for (Rank distance = 1; distance < problem.ranks; ++distance) {
    const Rank from = patterns::at_distance(problem.rank, -distance, problem.ranks);
    const Rank to = patterns::at_distance(problem.rank, distance, problem.ranks);
    Region& operand = operands[static_cast<std::size_t>(from)];
    operand = place_for(from);
    builder.receive(from, operand);
    builder.send(to, problem.input.part(share_of(to)));
  }
  LeftFold fold(builder);
  for (Rank rank = 0; rank < problem.ranks; ++rank) {
    const Region& operand = operands[static_cast<std::size_t>(rank)];
    const bool third_place = rank == problem.rank && rank > 0;
    fold.add(operand, !third_place ? operand : problem.in_place ? place_for(rank) : target);
  }
  builder.copy(fold.value(), target);
}

}  // namespace quadrille
