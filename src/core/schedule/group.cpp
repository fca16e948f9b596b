#include "schedule/group.hpp"

#include <algorithm>

namespace quadrille {

Group Group::of(std::vector<Rank> ranks) {
  const auto count = static_cast<Rank>(ranks.size());
  return Group(0, 1, count, std::move(ranks));
}

Rank Group::operator[](Rank index) const {
  return listed_.empty() ? first_ + index * stride_ : listed_[static_cast<std::size_t>(index)];
}

std::optional<Rank> Group::index_of(Rank rank) const {
  if (!listed_.empty()) {
    const auto found = std::find(listed_.begin(), listed_.end(), rank);
    if (found == listed_.end()) return std::nullopt;
    return static_cast<Rank>(found - listed_.begin());
  }
  const Rank distance = rank - first_;
  if (distance % stride_ != 0 || distance / stride_ < 0 || distance / stride_ >= count_) return std::nullopt;
  return distance / stride_;
}

}  // namespace quadrille
