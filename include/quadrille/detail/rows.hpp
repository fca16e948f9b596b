#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// \cond
namespace quadrille::detail {

/// A function that returns the destination of an element, or of an element of each vector.
template <class RankOf, class... Vector>
concept RankFunction = std::is_invocable_r_v < int,
        RankOf&, const std::ranges::range_value_t<Vector>
&... > ;

/// Vectors as the columns of a table: row i is element i of each, and has one destination.
template <class RankOf, class... Vector>
class Rows {
 public:
  Rows(const std::tuple<Vector&...>& columns, RankOf& rank_of) : columns_(columns), rank_of_(rank_of) {}

  std::size_t size() const {
    return std::apply([](auto&... one) { return std::min({static_cast<std::size_t>(one.size())...}); }, columns_);
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>(size() * (sizeof(Element<Vector>) + ...)); }

  /// Counts the rows by destination; returns a destination that is not a rank, if there is one.
  std::optional<int> count(int ranks, std::vector<std::int64_t>& counts) const {
    std::optional<int> no_rank;
    counts.assign(static_cast<std::size_t>(ranks), 0);
    for (std::size_t row = 0; row < size(); ++row) {
      const int to = rank(row);
      if (to >= 0 && to < ranks) {
        ++counts[static_cast<std::size_t>(to)];
      } else {
        no_rank = to;
      }
    }
    return no_rank;
  }

  /// Sorts the rows by destination, stably, within a budget of bytes; returns the bytes it allocated. Pieces that fit
  /// the budget are sorted by counting, and then merged in place.
  std::int64_t sort(int ranks, std::int64_t budget) const {
    if (is_sorted()) return 0;
    constexpr std::size_t widest = std::max({sizeof(Element<Vector>)...});
    const std::size_t fitting = static_cast<std::size_t>(budget) / (widest + sizeof(int));
    std::size_t piece = std::clamp<std::size_t>(fitting, 1, size());
    std::vector<std::byte> room;
    std::vector<int> to;
    // Other ranks would not learn of a failed allocation: do with less memory, or none.
    while (piece > 1) {
      try {
        room.resize(piece * widest);
        to.resize(piece);
        break;
      } catch (const std::bad_alloc&) {
        piece /= 2;
      }
    }
    std::int64_t taken = 0;
    if (piece > 1) {
      std::vector<std::size_t> next(static_cast<std::size_t>(ranks));
      for (std::size_t begin = 0; begin < size(); begin += piece) {
        sort_piece(begin, std::min(piece, size() - begin), room, to, next);
      }
      taken = static_cast<std::int64_t>(piece * (widest + sizeof(int)));
    }
    for (std::size_t length = piece; length < size(); length *= 2) {
      for (std::size_t begin = 0; begin + length < size(); begin += 2 * length) {
        merge(begin, begin + length, std::min(begin + 2 * length, size()), 0, ranks);
      }
    }
    return taken;
  }

 private:
  template <class One>
  using Element = std::ranges::range_value_t<One>;

  int rank(std::size_t row) const {
    return std::apply([&](auto&... one) { return static_cast<int>(rank_of_(std::as_const(one[row])...)); }, columns_);
  }

  bool is_sorted() const {
    for (std::size_t row = 1; row < size(); ++row) {
      if (rank(row) < rank(row - 1)) return false;
    }
    return true;
  }

  /// Sorts by counting: `to` has an element for each row of the piece, `next` one for each rank.
  void sort_piece(std::size_t begin, std::size_t length, std::span<std::byte> room, std::span<int> to,
                  std::span<std::size_t> next) const {
    std::fill(next.begin(), next.end(), 0);
    for (std::size_t i = 0; i < length; ++i) {
      to[i] = rank(begin + i);
      ++next[static_cast<std::size_t>(to[i])];
    }
    std::size_t at = 0;
    for (std::size_t& one : next) at += std::exchange(one, at);
    // Each column counts its places up, and down again for the next one.
    const auto permute = [&](auto& column) {
      constexpr std::size_t bytes = sizeof(column[0]);
      for (std::size_t i = 0; i < length; ++i) {
        std::memcpy(room.data() + next[static_cast<std::size_t>(to[i])]++ * bytes, &column[begin + i], bytes);
      }
      std::memcpy(static_cast<void*>(&column[begin]), room.data(), length * bytes);
      for (std::size_t i = 0; i < length; ++i) --next[static_cast<std::size_t>(to[i])];
    };
    std::apply([&](auto&... one) { (permute(one), ...); }, columns_);
  }

  /// Merges rows [first, middle) and [middle, last), each sorted, with destinations in [low, high).
  void merge(std::size_t first, std::size_t middle, std::size_t last, int low, int high) const {
    if (first == middle || middle == last || high - low < 2) return;
    const int split = low + (high - low) / 2;
    const std::size_t left = first_of(split, first, middle);
    const std::size_t right = first_of(split, middle, last);
    const auto rotate = [&](auto& column) {
      const auto at = [&](std::size_t row) { return column.begin() + static_cast<std::ptrdiff_t>(row); };
      std::rotate(at(left), at(middle), at(right));
    };
    std::apply([&](auto&... one) { (rotate(one), ...); }, columns_);
    const std::size_t joint = left + (right - middle);
    merge(first, left, joint, low, split);
    merge(joint, right, last, split, high);
  }

  /// The first of some sorted rows whose destination is that rank or a higher one.
  std::size_t first_of(int to, std::size_t begin, std::size_t end) const {
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (rank(middle) < to) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

  const std::tuple<Vector&...>& columns_;
  RankOf& rank_of_;
};

}  // namespace quadrille::detail
/// \endcond
