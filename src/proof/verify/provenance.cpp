#include "verify/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace quadrille::verify {

std::int32_t Expressions::leaf(Rank rank, Buffer buffer, std::int32_t block) {
  const std::int32_t number = numbers_.add({-1, rank, static_cast<std::int64_t>(buffer), block});
  if (numbers_.size() > expressions_.size()) {
    expressions_.push_back({.block = block, .leaf = true, .ranks = RankSet(rank)});
  }
  return number;
}

Value Expressions::combine(const Value& left, const Value& right) {
  const std::int64_t delta = right.offset - left.offset;
  const std::int32_t number = numbers_.add({left.expression, right.expression, delta, 0});
  if (numbers_.size() > expressions_.size()) {
    expressions_.push_back(combination(at(left.expression), at(right.expression), delta));
    expressions_.back().left = left.expression;
    expressions_.back().right = right.expression;
  }
  return {number, left.offset};
}

Expressions::Expression Expressions::combination(const Expression& left, const Expression& right,
                                                 std::int64_t delta) const {
  Expression both{.block = left.block};
  both.regular = left.regular && right.regular && delta == 0 && left.block == right.block;
  both.in_order = left.in_order && right.in_order && left.ranks.runs().back().last == right.ranks.runs().front().first;
  both.fold = both.in_order && left.fold && right.leaf;
  both.ranks = left.ranks;
  both.regular &= both.ranks.unite(right.ranks);
  return both;
}

std::vector<Rank> Expressions::operands(std::int32_t expression, std::size_t most) const {
  std::vector<Rank> all;
  std::vector<std::int32_t> left_to_visit = {expression};
  while (!left_to_visit.empty() && all.size() < most) {
    const Expression& one = at(left_to_visit.back());
    left_to_visit.pop_back();
    if (one.leaf) {
      all.push_back(one.ranks.runs().front().first);
    } else {
      left_to_visit.insert(left_to_visit.end(), {one.right, one.left});
    }
  }
  return all;
}

std::string Expressions::text(std::int32_t expression, std::size_t most) const {
  const Expression& one = at(expression);
  if (one.leaf) return fmt::format("r{}", one.ranks.runs().front().first);
  const std::size_t in_left = operands(one.left, most).size();
  const auto side = [&](std::int32_t operand, std::size_t limit) {
    if (limit == 0) return std::string("...");
    const std::string inside = text(operand, limit);
    return at(operand).leaf ? inside : fmt::format("({})", inside);
  };
  return side(one.left, most) + " + " + side(one.right, most - in_left);
}

bool Expressions::combines_all(std::int32_t expression, Rank ranks, std::int32_t block) const {
  const Expression& of = at(expression);
  return of.regular && (commutative_ || of.in_order) && of.block == block && of.ranks.is_all(ranks);
}

namespace {

// Extends `last` by a piece that continues it; false if it does not.
bool merge(Held& last, const Held& piece) {
  const std::int64_t length = last.range.end - last.range.begin;
  const bool continues = last.range.end == piece.range.begin && last.value.expression == piece.value.expression &&
                         last.value.offset + length == piece.value.offset;
  if (continues) last.range.end = piece.range.end;
  return continues;
}

// The part of a piece inside `range`, moved by `shift`.
Held cut(const Held& piece, const Range& range, std::int64_t shift = 0) {
  const std::int64_t begin = std::max(piece.range.begin, range.begin);
  return {{begin + shift, std::min(piece.range.end, range.end) + shift},
          {piece.value.expression, piece.value.offset + begin - piece.range.begin}};
}

}  // namespace

bool read(std::span<const Held> pieces, Range range, std::int64_t at, std::vector<Held>& into) {
  if (range.empty()) return true;
  auto it = std::partition_point(pieces.begin(), pieces.end(),
                                 [&](const Held& piece) { return piece.range.end <= range.begin; });
  std::int64_t reached = range.begin;
  for (; it != pieces.end() && it->range.begin < range.end; ++it) {
    if (it->range.begin > reached) return false;
    reached = std::min(it->range.end, range.end);
    const Held piece = cut(*it, range, at - range.begin);
    if (into.empty() || !merge(into.back(), piece)) into.push_back(piece);
  }
  return reached >= range.end;
}

std::optional<std::vector<Held>> Contents::read(Range range) const {
  std::vector<Held> found;
  if (!read(range, 0, found)) return std::nullopt;
  return found;
}

bool Contents::read(Range range, std::int64_t at, std::vector<Held>& into) const {
  if (range.empty()) return true;
  auto part = std::partition_point(parts_.begin(), parts_.end(),
                                   [&](const Part& one) { return one.back().range.end <= range.begin; });
  for (; part != parts_.end(); ++part) {
    const std::int64_t end = std::min(range.end, part->back().range.end);
    if (!verify::read(*part, {range.begin, end}, at, into)) return false;
    at += end - range.begin;
    range.begin = end;
    if (range.empty()) return true;
  }
  return false;
}

void Contents::write(std::int64_t begin, std::span<const Held> pieces) {
  if (pieces.empty()) return;
  const Range range{begin + pieces.front().range.begin, begin + pieces.back().range.end};
  if (range.empty()) return;
  if (parts_.empty()) {
    write(parts_.emplace_back(), begin, pieces);
    return divide(0);
  }
  // The parts that the range touches become one; where it touches none, it goes to the one before.
  auto first = std::partition_point(parts_.begin(), parts_.end(),
                                    [&](const Part& part) { return part.back().range.end < range.begin; });
  const auto last = std::partition_point(first, parts_.end(),
                                         [&](const Part& part) { return part.front().range.begin <= range.end; });
  if (first == last && first != parts_.begin()) --first;
  for (auto other = first + 1; other < last; ++other) first->insert(first->end(), other->begin(), other->end());
  if (first + 1 < last) parts_.erase(first + 1, last);
  write(*first, begin, pieces);
  divide(static_cast<std::size_t>(first - parts_.begin()));
}

// Into parts of half the size that a part may have.
void Contents::divide(std::size_t part) {
  constexpr std::size_t most = 512;
  if (parts_[part].size() <= most) return;
  const Part all = std::move(parts_[part]);
  std::vector<Part> divided;
  for (std::size_t i = 0; i < all.size(); i += most / 2) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i);
    divided.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(most / 2, all.size() - i)));
  }
  const auto place = parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(part));
  parts_.insert(place, std::make_move_iterator(divided.begin()), std::make_move_iterator(divided.end()));
}

void Contents::write(Part& part, std::int64_t begin, std::span<const Held> pieces) {
  const Range range{begin + pieces.front().range.begin, begin + pieces.back().range.end};
  const auto first =
      std::partition_point(part.begin(), part.end(), [&](const Held& piece) { return piece.range.end < range.begin; });
  const auto last =
      std::partition_point(first, part.end(), [&](const Held& piece) { return piece.range.begin <= range.end; });
  // The remaining parts of the neighbours. Adjacent ones are included, since they may merge with the range.
  Held left, right;
  if (first != last) {
    left = cut(*first, {first->range.begin, range.begin});
    right = cut(*std::prev(last), {range.end, std::prev(last)->range.end});
  }
  const auto before = static_cast<std::size_t>(last - first);
  const std::size_t most = pieces.size() + (left.range.empty() ? 0 : 1) + (right.range.empty() ? 0 : 1);
  const auto place = first - part.begin();
  if (most > before) part.insert(last, most - before, Held{});

  const auto start = part.begin() + place;
  auto end = start;
  const auto append = [&](const Held& piece) {
    if (!piece.range.empty() && (end == start || !merge(*std::prev(end), piece))) *end++ = piece;
  };
  append(left);
  for (const Held& piece : pieces) append(cut(piece, piece.range, begin));
  append(right);
  part.erase(end, start + static_cast<std::ptrdiff_t>(std::max(most, before)));
}

}  // namespace quadrille::verify
