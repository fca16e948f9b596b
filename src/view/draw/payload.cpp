#include "draw/payload.hpp"

#include <algorithm>

namespace quadrille::draw {

Payload payload_of(const std::vector<verify::Held>& data, const verify::Expressions& expressions, Rank ranks) {
  Payload payload;
  for (const verify::Held& held : data) {
    const bool first = payload.ranks == 0;
    std::uint64_t contributors = 0;
    for (const verify::RankSet::Run& run : expressions.ranks(held.value.expression).runs()) {
      for (Rank rank = run.first; rank < run.last; ++rank) contributors |= std::uint64_t{1} << rank;
    }
    const std::int32_t block = expressions.block(held.value.expression);
    const Range part{held.value.offset, held.value.offset + held.range.end - held.range.begin};
    payload.ranks |= contributors;
    payload.all &= contributors == ~std::uint64_t{0} >> (64 - ranks);
    payload.units += held.range.end - held.range.begin;
    payload.first_block = first ? block : std::min(payload.first_block, block);
    payload.last_block = first ? block : std::max(payload.last_block, block);
    payload.part.begin = first ? part.begin : std::min(payload.part.begin, part.begin);
    payload.part.end = first ? part.end : std::max(payload.part.end, part.end);
  }
  return payload;
}

std::vector<Payload> pieces_of(const std::vector<verify::Held>& data, const verify::Expressions& expressions,
                               Rank ranks) {
  std::vector<Payload> pieces;
  for (const verify::Held& held : data) pieces.push_back(payload_of({held}, expressions, ranks));
  return pieces;
}

}  // namespace quadrille::draw
