#pragma once

#include <vector>

#include "schedule/data.hpp"

namespace quadrille::patterns {

// Recursive doubling among any number of ranks: where ranks of a block have no partner, as the next block is not
// complete, those at its front that have one hand on what they got, at half the distance from step to step.
struct HandingOn {
  Rank peer;
  bool sends;
};
// Of a rank in a block of a power of two, `have` of which have a partner.
inline std::vector<HandingOn> handing_on(Rank rank, Rank block, Rank have) {
  std::vector<HandingOn> all;
  for (Rank distance = block / 2; distance > 0; distance /= 2) {
    const Rank peer = rank ^ distance;
    const Rank end = rank / (2 * distance) * (2 * distance) + have;
    if ((rank < end) != (peer < end)) all.push_back({peer, rank < end});
  }
  return all;
}

}  // namespace quadrille::patterns
