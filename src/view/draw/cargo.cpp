#include "draw/cargo.hpp"

#include <algorithm>

namespace quadrille::draw {

Cargo cargo_of(const std::vector<verify::Held>& data, const verify::Expressions& expressions, Rank ranks) {
  Cargo cargo;
  for (const verify::Held& held : data) {
    const bool first = cargo.ranks == 0;
    std::uint64_t contributors = 0;
    for (const verify::RankSet::Run& run : expressions.ranks(held.value.expression).runs()) {
      for (Rank rank = run.first; rank < run.last; ++rank) contributors |= std::uint64_t{1} << rank;
    }
    const std::int32_t block = expressions.block(held.value.expression);
    const Range part{held.value.offset, held.value.offset + held.range.end - held.range.begin};
    cargo.ranks |= contributors;
    cargo.all &= contributors == ~std::uint64_t{0} >> (64 - ranks);
    cargo.units += held.range.end - held.range.begin;
    cargo.first_block = first ? block : std::min(cargo.first_block, block);
    cargo.last_block = first ? block : std::max(cargo.last_block, block);
    cargo.part.begin = first ? part.begin : std::min(cargo.part.begin, part.begin);
    cargo.part.end = first ? part.end : std::max(cargo.part.end, part.end);
  }
  return cargo;
}

}  // namespace quadrille::draw
