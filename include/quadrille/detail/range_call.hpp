#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "quadrille/blocks.hpp"
#include "quadrille/detail/call.hpp"
#include "quadrille/operation.hpp"

/// \cond
namespace quadrille::detail {

/// A call on ranges, before their lengths have been checked and data in place has been recognised by its address.
struct RangeCall {
  /// The arguments besides the ranges; counts are of each rank's block.
  struct Arguments {
    int root = 0;
    std::span<const std::int64_t> send_counts = {};
    std::span<const std::int64_t> receive_counts = {};
  };

  Collective collective;
  UserBuffer input;
  UserBuffer output;
  Arguments arguments;
  bool same_range = false;  ///< input and output are one object, which may be empty
  Combine combine = {};
  bool commutative = false;
};

template <class Range>
UserBuffer buffer(Range&& range) {
  return {.address = std::ranges::data(range),
          .count = static_cast<std::int64_t>(std::ranges::size(range)),
          .element_bytes = sizeof(std::ranges::range_value_t<Range>)};
}

inline UserBuffer buffer(const void* address, const Blocks& blocks) {
  return {.address = address, .type = blocks.type, .counts = blocks.counts, .displacements = blocks.displacements};
}

inline UserBuffer buffer(const void* address, const TypedBlocks& blocks) {
  return {.address = address, .counts = blocks.counts, .displacements = blocks.displacements, .types = blocks.types};
}

template <class T, class Op>
Combine combine(Op op) {
  return [op = std::move(op)](const void* left, void* right, std::int64_t count) mutable {
    const T* a = static_cast<const T*>(left);
    T* b = static_cast<T*>(right);
    for (std::int64_t i = 0; i < count; ++i) b[i] = static_cast<T>(op(a[i], b[i]));
  };
}

/// A call on ranges of a collective that moves data.
template <class Input, class Output>
RangeCall data_call(Collective collective, Input& input, Output& output, const RangeCall::Arguments& arguments) {
  static_assert(std::is_same_v<std::ranges::range_value_t<Input>, std::ranges::range_value_t<Output>>,
                "input and output hold different types");
  return {.collective = collective,
          .input = buffer(input),
          .output = buffer(output),
          .arguments = arguments,
          .same_range =
              static_cast<const void*>(std::addressof(input)) == static_cast<const void*>(std::addressof(output))};
}

/// A call on ranges of a reduction or scan.
template <class Input, class Output, class Op>
RangeCall reduction_call(Collective collective, Input& input, Output& output, Op op,
                         const RangeCall::Arguments& arguments) {
  using T = std::ranges::range_value_t<Output>;
  static_assert(std::is_invocable_r_v<T, Op, T, T>, "the operation must take two elements and return one");
  RangeCall call = data_call(collective, input, output, arguments);
  call.combine = combine<T>(std::move(op));
  call.commutative = quadrille::commutative<Op, T>;
  return call;
}

}  // namespace quadrille::detail
/// \endcond
