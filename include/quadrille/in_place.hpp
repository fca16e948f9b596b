#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrille/call.hpp"

namespace quadrille {

/// Parts of one range, by rank, in elements.
struct Parts {
  std::span<const std::int64_t> counts;              ///< of each rank's part
  std::span<const std::int64_t> displacements = {};  ///< where each begins; none: they lie one after another
};

/// What a move of data within its own memory came to.
struct Moved {
  std::vector<std::int64_t> counts;  ///< elements received, by source
  std::int64_t peak_bytes = 0;       ///< memory that this rank took beyond the data's, longer vectors included
};

/// \cond
/// What moves of data within its own memory are made of. Not for programs.
namespace detail {

/// How the interfaces hand one to the library.
struct Move {
  struct Array {
    void* data;
    std::int64_t element_bytes;
  };
  Parts send;
  Parts receive = {};                                     ///< without counts: what others send, one after another
  std::vector<Array> arrays = {};                         ///< moved alike
  MPI_Datatype type = MPI_DATATYPE_NULL;                  ///< of the elements; null: of element_bytes
  std::int64_t elements = -1;                             ///< that the arrays hold; -1: nobody knows
  bool covered = true;                                    ///< the counts are those of all elements, if they should be
  std::optional<std::int64_t> nobody = {};                ///< a rank that there is not, to which an element is to go
  std::function<std::int64_t(std::int64_t)> growth = {};  ///< bytes to make room for so many elements
  std::function<void(std::int64_t)> reserve = {};         ///< makes it, or throws
  std::function<void(std::int64_t, std::span<Array>)> grow = {};  ///< makes it, and tells where the arrays are now
};

/// Vectors that become as long as what they receive.
template <class... T>
Move move_of(const std::tuple<std::vector<T>&...>& vectors, std::span<const std::int64_t> counts) {
  Move move{.send = {counts}};
  std::apply(
      [&](auto&... one) {
        (move.arrays.push_back({one.data(), static_cast<std::int64_t>(sizeof(T))}), ...);
        move.elements = std::min({static_cast<std::int64_t>(one.size())...});
        const auto all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
        move.covered = ((static_cast<std::int64_t>(one.size()) == all) && ...);
      },
      vectors);
  move.growth = [vectors](std::int64_t elements) {
    const auto bytes = [elements](const auto& one) {
      const auto room = static_cast<std::int64_t>(one.capacity());
      return elements > room ? elements * static_cast<std::int64_t>(sizeof(one[0])) : std::int64_t{0};
    };
    return std::apply([&](auto&... one) { return (bytes(one) + ...); }, vectors);
  };
  move.reserve = [vectors](std::int64_t elements) {
    std::apply([&](auto&... one) { (one.reserve(static_cast<std::size_t>(elements)), ...); }, vectors);
  };
  move.grow = [vectors](std::int64_t elements, std::span<Move::Array> arrays) {
    const auto grow = [elements](auto& one) {
      const auto wanted = std::max(static_cast<std::size_t>(elements), one.size());
      one.resize(wanted);
      return one.data();
    };
    std::size_t next = 0;
    std::apply([&](auto&... one) { ((arrays[next++].data = grow(one)), ...); }, vectors);
  };
  return move;
}

/// Elements of two neighbouring ranges, each ordered by the rank they are for, which is one of [low, high), become
/// ordered together; those for one rank keep their order.
template <class Iterator, class RankOf>
void merge_by_rank(Iterator first, Iterator middle, Iterator last, RankOf& rank_of, int low, int high) {
  if (first == middle || middle == last || high - low < 2) return;
  const int split = low + (high - low) / 2;
  const auto below = [&](const auto& element) { return static_cast<int>(rank_of(element)) < split; };
  const Iterator left = std::partition_point(first, middle, below);
  const Iterator right = std::partition_point(middle, last, below);
  const Iterator joint = std::rotate(left, middle, right);
  merge_by_rank(first, left, joint, rank_of, low, split);
  merge_by_rank(joint, right, last, rank_of, split, high);
}

/// Orders elements by the rank they are for, those for one rank as they were, with room for `extra` elements besides.
template <class T, class RankOf>
void order_by_rank(std::span<T> data, RankOf& rank_of, int ranks, std::span<T> extra) {
  const auto before = [&](const T& a, const T& b) { return rank_of(a) < rank_of(b); };
  if (std::is_sorted(data.begin(), data.end(), before)) return;
  const std::size_t block = std::max<std::size_t>(1, extra.size());
  std::vector<std::size_t> next(static_cast<std::size_t>(ranks));
  for (std::size_t begin = 0; begin < data.size() && block > 1; begin += block) {
    const std::span<T> piece = data.subspan(begin, std::min(block, data.size() - begin));
    std::fill(next.begin(), next.end(), 0);
    for (const T& one : piece) ++next[static_cast<std::size_t>(rank_of(one))];
    std::size_t at = 0;
    for (std::size_t& one : next) at += std::exchange(one, at);
    for (const T& one : piece) extra[next[static_cast<std::size_t>(rank_of(one))]++] = one;
    std::copy_n(extra.begin(), piece.size(), piece.begin());
  }
  for (std::size_t length = block; length < data.size(); length *= 2) {
    for (std::size_t begin = 0; begin + length < data.size(); begin += 2 * length) {
      const auto first = data.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto middle = first + static_cast<std::ptrdiff_t>(length);
      const auto last = data.begin() + static_cast<std::ptrdiff_t>(std::min(begin + 2 * length, data.size()));
      merge_by_rank(first, middle, last, rank_of, 0, ranks);
    }
  }
}

}  // namespace detail
/// \endcond

}  // namespace quadrille
