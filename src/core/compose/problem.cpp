#include "compose/problem.hpp"

#include <algorithm>

namespace quadrille {

std::int64_t Shares::most() const {
  std::int64_t most = 0;
  for (Rank rank = 0; rank < static_cast<Rank>(ends_.size()); ++rank) {
    most = std::max(most, of(rank).end - of(rank).begin);
  }
  return most;
}

Region Problem::block(const Region& side, Rank peer) const {
  if (!separate) return side.part(share(peer));
  Region block = side;
  block.block += peer;
  return block;
}

std::vector<Region> Problem::blocks(const Region& side, Rank first, Rank how_many) const {
  std::vector<Region> found;
  if (separate) {
    for (Rank i = 0; i < how_many; ++i) found.push_back(block(side, (first + i) % ranks));
    return found;
  }
  first %= ranks;
  const Rank before_the_end = std::min(how_many, ranks - first);
  const auto add = [&](Rank from, Rank many) {
    if (many > 0) found.push_back(side.part({share(from).begin, share(from + many - 1).end}));
  };
  add(first, before_the_end);
  add(0, how_many - before_the_end);
  return found;
}

}  // namespace quadrille
