#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrille/call.hpp"
#include "quadrille/pending.hpp"

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

/// A move on its way.
class [[nodiscard]] PendingMove : public Pending {
 public:
  /// \cond
  PendingMove(detail::Handle handle, std::shared_ptr<Moved> moved)
      : Pending(std::move(handle)), moved_(std::move(moved)) {}
  /// \endcond

  /// Waits until it is done, and tells what it came to.
  Moved wait() {
    Pending::wait();
    return moved_ ? *moved_ : Moved{};
  }

 private:
  std::shared_ptr<Moved> moved_;
};

/// A move that is set up once and run as often as wanted.
class [[nodiscard]] PersistentMove : public Persistent {
 public:
  /// \cond
  PersistentMove(detail::Handle handle, std::shared_ptr<Moved> moved)
      : Persistent(std::move(handle)), moved_(std::move(moved)) {}
  /// \endcond

  /// Waits until the run is done, and tells what it came to.
  Moved wait() {
    Persistent::wait();
    return moved_ ? *moved_ : Moved{};
  }

 private:
  std::shared_ptr<Moved> moved_;
};

/// A vector that can be made longer: std::vector with any allocator, or one like it.
template <class Vector>
concept GrowingData = std::ranges::contiguous_range<Vector> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Vector>> && requires(Vector& vector, std::size_t length) {
  vector.reserve(length);
  vector.resize(length);
  { vector.capacity() } -> std::convertible_to<std::size_t>;
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
  bool alike = true;                                      ///< all vectors have as many
  bool covered = true;                                    ///< the counts are those of all elements, if they should be
  std::optional<std::int64_t> nobody = {};                ///< a rank that there is not, to which an element is to go
  std::int64_t taken = 0;                                 ///< bytes that making it ready took
  std::function<std::int64_t(std::int64_t)> growth = {};  ///< bytes to make room for so many elements
  std::function<void(std::int64_t)> reserve = {};         ///< makes it, or throws
  std::function<void(std::int64_t, std::span<Array>)> grow = {};  ///< uses it, and tells where the arrays are now
  std::function<void(std::int64_t)> shrink = {};                  ///< to so many elements, when all is done
};

/// Whether counts, which may be anything, add up to that.
inline bool add_up_to(std::int64_t total, std::span<const std::int64_t> counts) {
  for (const std::int64_t count : counts) {
    if (count < 0 || count > total) return false;
    total -= count;
  }
  return total == 0;
}

/// Vectors that become as long as what they receive.
template <class... Vector>
Move move_of(const std::tuple<Vector&...>& vectors, std::span<const std::int64_t> counts) {
  Move move{.send = {counts}};
  std::apply(
      [&](auto&... one) {
        (move.arrays.push_back({std::ranges::data(one), static_cast<std::int64_t>(sizeof(one[0]))}), ...);
        move.elements = std::min({static_cast<std::int64_t>(one.size())...});
        move.alike = ((static_cast<std::int64_t>(one.size()) == move.elements) && ...);
        move.covered = (add_up_to(static_cast<std::int64_t>(one.size()), counts) && ...);
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
      one.resize(std::max(static_cast<std::size_t>(elements), static_cast<std::size_t>(one.size())));
      return std::ranges::data(one);
    };
    std::size_t next = 0;
    std::apply([&](auto&... one) { ((arrays[next++].data = grow(one)), ...); }, vectors);
  };
  move.shrink = [vectors](std::int64_t elements) {
    std::apply([&](auto&... one) { (one.resize(static_cast<std::size_t>(elements)), ...); }, vectors);
  };
  return move;
}

/// Tells the rank that an element of each vector is for.
template <class RankOf, class... Vector>
concept Ranks = std::is_invocable_r_v < int,
        RankOf&, const std::ranges::range_value_t<Vector>
&... > ;

/// Vectors side by side: a row is an element of each, and goes to one rank.
template <class RankOf, class... Vector>
class Rows {
 public:
  Rows(const std::tuple<Vector&...>& columns, RankOf& rank_of) : columns_(columns), rank_of_(rank_of) {}

  std::size_t size() const {
    return std::apply([](auto&... one) { return std::min({static_cast<std::size_t>(one.size())...}); }, columns_);
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>(size() * (sizeof(Element<Vector>) + ...)); }

  /// Counts the rows for each rank; returns one that is none, if there is.
  std::optional<int> count(int ranks, std::vector<std::int64_t>& counts) const {
    std::optional<int> nobody;
    counts.assign(static_cast<std::size_t>(ranks), 0);
    for (std::size_t row = 0; row < size(); ++row) {
      const int to = rank(row);
      if (to >= 0 && to < ranks) {
        ++counts[static_cast<std::size_t>(to)];
      } else {
        nobody = to;
      }
    }
    return nobody;
  }

  /// Orders rows by the rank they are for, those for one rank as they were, within so many bytes; returns how many it
  /// took. Pieces that fit are dealt out by rank; then neighbours are merged where they lie.
  std::int64_t order(int ranks, std::int64_t budget) const {
    if (is_ordered()) return 0;
    constexpr std::size_t widest = std::max({sizeof(Element<Vector>)...});
    const std::size_t fitting = static_cast<std::size_t>(budget) / (widest + sizeof(int));
    std::size_t piece = std::clamp<std::size_t>(fitting, 1, size());
    std::vector<std::byte> room;
    std::vector<int> to;
    // Nobody hears of memory that can't be had: it goes with less, and with none.
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
        deal(begin, std::min(piece, size() - begin), room, to, next);
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

  bool is_ordered() const {
    for (std::size_t row = 1; row < size(); ++row) {
      if (rank(row) < rank(row - 1)) return false;
    }
    return true;
  }

  /// A piece, by counting: `to` has room for the rank of each row, `next` is as long as there are ranks.
  void deal(std::size_t begin, std::size_t length, std::span<std::byte> room, std::span<int> to,
            std::span<std::size_t> next) const {
    std::fill(next.begin(), next.end(), 0);
    for (std::size_t i = 0; i < length; ++i) {
      to[i] = rank(begin + i);
      ++next[static_cast<std::size_t>(to[i])];
    }
    std::size_t at = 0;
    for (std::size_t& one : next) at += std::exchange(one, at);
    // Places are counted again for each column.
    const auto move = [&](auto& column) {
      constexpr std::size_t bytes = sizeof(column[0]);
      for (std::size_t i = 0; i < length; ++i) {
        std::memcpy(room.data() + next[static_cast<std::size_t>(to[i])]++ * bytes, &column[begin + i], bytes);
      }
      std::memcpy(static_cast<void*>(&column[begin]), room.data(), length * bytes);
      for (std::size_t i = 0; i < length; ++i) --next[static_cast<std::size_t>(to[i])];
    };
    std::apply([&](auto&... one) { (move(one), ...); }, columns_);
  }

  /// Rows [first, middle) and [middle, last), each ordered, with ranks in [low, high), become ordered together.
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

  /// The first row for that rank or a higher one, of some that are ordered.
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

}  // namespace detail
/// \endcond

}  // namespace quadrille
