#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>
#include <vector>

#include "quadrille/blocks.hpp"
#include "quadrille/detail/range_call.hpp"

/// \cond
namespace quadrille::detail {

/// A call of alltoallv_in_place or redistribute, as the C++ and C interfaces describe it to the library.
struct InPlaceExchange {
  struct Array {
    void* data;
    std::int64_t element_bytes;
  };
  Parts send;
  Parts receive = {};                        ///< without counts: what the others send, contiguous, by source
  std::vector<Array> arrays = {};            ///< element i of each goes to the same rank
  MPI_Datatype type = MPI_DATATYPE_NULL;     ///< of the elements; null: of element_bytes
  std::int64_t elements = -1;                ///< that each array holds; -1: unknown
  bool equal_lengths = true;                 ///< of all vectors
  bool counts_fit = true;                    ///< the send counts of a redistribute add up to the vectors' length
  std::optional<std::int64_t> no_rank = {};  ///< a destination that is not a rank of the communicator
  std::int64_t sort_bytes = 0;               ///< allocated, and freed again, to sort the elements by destination
  std::function<std::int64_t(std::int64_t elements)> growth_bytes = {};  ///< what reserve would allocate
  std::function<void(std::int64_t elements)> reserve = {};
  std::function<void(std::int64_t elements, std::span<Array> arrays)> grow = {};  ///< updates the arrays' addresses
  std::function<void(std::int64_t elements)> shrink = {};                         ///< after completion
};

/// Whether the counts, which may be negative or huge, add up to the total.
inline bool add_up_to(std::int64_t total, std::span<const std::int64_t> counts) {
  for (const std::int64_t count : counts) {
    if (count < 0 || count > total) return false;
    total -= count;
  }
  return total == 0;
}

/// alltoallv_in_place on a range.
template <class Range>
InPlaceExchange in_place_exchange(Range& data, const Parts& send, const Parts& receive) {
  const UserBuffer all = buffer(data);
  return {.send = send,
          .receive = receive,
          .arrays = {{std::ranges::data(data), all.element_bytes}},
          .elements = all.count};
}

/// alltoallv_in_place on elements of a type of MPI.
inline InPlaceExchange in_place_exchange(void* data, const Parts& send, const Parts& receive, MPI_Datatype type) {
  return {.send = send, .receive = receive, .arrays = {{data, 0}}, .type = type};
}

/// redistribute: the vectors get the length of what they receive.
template <class... Vector>
InPlaceExchange redistribution(const std::tuple<Vector&...>& vectors, std::span<const std::int64_t> counts) {
  InPlaceExchange exchange{.send = {counts}};
  std::apply(
      [&](auto&... one) {
        (exchange.arrays.push_back({std::ranges::data(one), static_cast<std::int64_t>(sizeof(one[0]))}), ...);
        exchange.elements = std::min({static_cast<std::int64_t>(one.size())...});
        exchange.equal_lengths = ((static_cast<std::int64_t>(one.size()) == exchange.elements) && ...);
        exchange.counts_fit = (add_up_to(static_cast<std::int64_t>(one.size()), counts) && ...);
      },
      vectors);
  exchange.growth_bytes = [vectors](std::int64_t elements) {
    const auto bytes = [elements](const auto& one) {
      const auto capacity = static_cast<std::int64_t>(one.capacity());
      return elements > capacity ? elements * static_cast<std::int64_t>(sizeof(one[0])) : std::int64_t{0};
    };
    return std::apply([&](auto&... one) { return (bytes(one) + ...); }, vectors);
  };
  exchange.reserve = [vectors](std::int64_t elements) {
    std::apply([&](auto&... one) { (one.reserve(static_cast<std::size_t>(elements)), ...); }, vectors);
  };
  exchange.grow = [vectors](std::int64_t elements, std::span<InPlaceExchange::Array> arrays) {
    const auto grow = [elements](auto& one) {
      one.resize(std::max(static_cast<std::size_t>(elements), static_cast<std::size_t>(one.size())));
      return std::ranges::data(one);
    };
    std::size_t next = 0;
    std::apply([&](auto&... one) { ((arrays[next++].data = grow(one)), ...); }, vectors);
  };
  exchange.shrink = [vectors](std::int64_t elements) {
    std::apply([&](auto&... one) { (one.resize(static_cast<std::size_t>(elements)), ...); }, vectors);
  };
  return exchange;
}

}  // namespace quadrille::detail
/// \endcond
