#include "verify/provenance.hpp"

#include <algorithm>

namespace quadrille::verify {

std::int32_t Expressions::add(Expression expression) {
  expressions_.push_back(std::move(expression));
  return static_cast<std::int32_t>(expressions_.size()) - 1;
}

std::int32_t Expressions::leaf(Rank rank, Buffer buffer, std::int32_t block) {
  const auto [place, fresh] = leaves_.try_emplace({rank, buffer, block}, 0);
  if (fresh) place->second = add({.buffer = buffer, .block = block, .ranks = RankSet(rank)});
  return place->second;
}

Value Expressions::combine(const Value& left, const Value& right) {
  const std::int64_t delta = right.offset - left.offset;
  const auto [place, fresh] = nodes_.try_emplace({left.expression, right.expression, delta}, 0);
  if (fresh) {
    place->second = add(combination(at(left.expression), at(right.expression), delta));
  }
  return {place->second, left.offset};
}

Expressions::Expression Expressions::combination(const Expression& left, const Expression& right,
                                                 std::int64_t delta) const {
  Expression both{.buffer = left.buffer, .block = left.block};
  both.regular =
      left.regular && right.regular && delta == 0 && left.buffer == right.buffer && left.block == right.block;
  both.in_order = left.in_order && right.in_order && left.ranks.runs().back().last == right.ranks.runs().front().first;
  both.ranks = left.ranks;
  both.regular &= both.ranks.unite(right.ranks);
  return both;
}

bool Expressions::combines_all(std::int32_t expression, Rank ranks, Buffer buffer, std::int32_t block) const {
  const Expression& of = at(expression);
  return of.regular && (commutative_ || of.in_order) && of.buffer == buffer && of.block == block &&
         of.ranks.is_all(ranks);
}

namespace {

void append(std::vector<Held>& pieces, const Held& piece) {
  if (piece.range.empty()) return;
  if (!pieces.empty()) {
    Held& last = pieces.back();
    const std::int64_t length = last.range.end - last.range.begin;
    const bool continues = last.range.end == piece.range.begin && last.value.expression == piece.value.expression &&
                           last.value.offset + length == piece.value.offset;
    if (continues) {
      last.range.end = piece.range.end;
      return;
    }
  }
  pieces.push_back(piece);
}

// The part of a piece inside `range`.
Held cut(const Held& piece, const Range& range) {
  const std::int64_t begin = std::max(piece.range.begin, range.begin);
  return {{begin, std::min(piece.range.end, range.end)},
          {piece.value.expression, piece.value.offset + begin - piece.range.begin}};
}

}  // namespace

std::optional<std::vector<Held>> Contents::read(Range range) const {
  std::vector<Held> found;
  std::int64_t at = range.begin;
  auto it = std::partition_point(pieces_.begin(), pieces_.end(),
                                 [&](const Held& piece) { return piece.range.end <= range.begin; });
  for (; it != pieces_.end() && it->range.begin < range.end; ++it) {
    if (it->range.begin > at) return std::nullopt;
    Held piece = cut(*it, range);
    at = piece.range.end;
    piece.range.begin -= range.begin;
    piece.range.end -= range.begin;
    append(found, piece);
  }
  if (at < range.end) return std::nullopt;
  return found;
}

void Contents::write(std::int64_t begin, std::span<const Held> pieces) {
  if (pieces.empty()) return;
  const Range range{begin + pieces.front().range.begin, begin + pieces.back().range.end};
  const auto first = std::partition_point(pieces_.begin(), pieces_.end(),
                                          [&](const Held& piece) { return piece.range.end < range.begin; });
  const auto last =
      std::partition_point(first, pieces_.end(), [&](const Held& piece) { return piece.range.begin <= range.end; });
  // Neighbours that touch the range take part: they may merge with it.
  std::vector<Held> fresh;
  for (auto it = first; it != last; ++it) append(fresh, cut(*it, {it->range.begin, range.begin}));
  for (Held piece : pieces) {
    piece.range.begin += begin;
    piece.range.end += begin;
    append(fresh, piece);
  }
  for (auto it = first; it != last; ++it) append(fresh, cut(*it, {range.end, it->range.end}));
  const auto place = pieces_.erase(first, last);
  pieces_.insert(place, fresh.begin(), fresh.end());
}

}  // namespace quadrille::verify
