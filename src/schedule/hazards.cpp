#include "schedule/hazards.hpp"

#include <algorithm>
#include <iterator>

namespace quadrille {

void Hazards::split(Pieces& pieces, std::int64_t at) {
  auto it = pieces.upper_bound(at);
  if (it == pieces.begin()) return;
  --it;
  if (it->first == at || it->second.end <= at) return;
  Piece right = it->second;
  it->second.end = at;
  pieces.emplace(at, std::move(right));
}

void Hazards::record(Pieces& pieces, Range range, bool write, Id id, bool keep) {
  if (write && !keep) {
    const auto first = pieces.lower_bound(range.begin);
    const auto last = pieces.lower_bound(range.end);
    pieces.erase(first, last);
    pieces.emplace(range.begin, Piece{range.end, {id}, {}});
    return;
  }
  const auto add = [&](Piece& piece) {
    auto& list = write ? piece.writers : piece.readers;
    if (list.empty() || list.back() != id) list.push_back(id);
  };
  const auto fill = [&](std::int64_t begin, std::int64_t end) {
    add(pieces.emplace(begin, Piece{end, {}, {}}).first->second);
  };

  std::int64_t at = range.begin;
  auto it = pieces.lower_bound(range.begin);
  while (at < range.end) {
    const bool piece_here = it != pieces.end() && it->first < range.end;
    const std::int64_t next = piece_here ? it->first : range.end;
    if (at < next) fill(at, next);
    if (!piece_here) break;
    add(it->second);
    at = it->second.end;
    ++it;
  }
}

void Hazards::forget_before(const Region& block, Range range, Id id) {
  auto& pieces = blocks_[key(block)];
  for (auto it = pieces.lower_bound(range.begin); it != pieces.end() && it->first < range.end; ++it) {
    std::erase_if(it->second.writers, [&](Id one) { return one < id; });
    std::erase_if(it->second.readers, [&](Id one) { return one < id; });
  }
}

}  // namespace quadrille
