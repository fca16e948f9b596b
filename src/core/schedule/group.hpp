#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "schedule/data.hpp"

namespace quadrille {

// An ordered group of a communicator's ranks. A strided group takes constant memory.
class Group {
 public:
  static Group strided(Rank first, Rank stride, Rank count) { return Group(first, stride, count, {}); }
  static Group all(Rank ranks) { return strided(0, 1, ranks); }
  // A list of distinct ranks.
  static Group of(std::vector<Rank> ranks);

  Rank size() const { return count_; }
  // The communicator's rank of the group's rank `index`.
  Rank operator[](Rank index) const;
  // The group's rank of the communicator's rank `rank`, if it is a member.
  std::optional<Rank> index_of(Rank rank) const;

 private:
  Group(Rank first, Rank stride, Rank count, std::vector<Rank> listed)
      : first_(first), stride_(stride), count_(count), listed_(std::move(listed)) {}

  Rank first_;
  Rank stride_;
  Rank count_;
  std::vector<Rank> listed_;  // empty: strided
};

}  // namespace quadrille
