#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <type_traits>

namespace quadrille {

/// A send buffer: a contiguous, sized range of trivially copyable elements.
template <class Range>
concept Data = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;

/// A send buffer of a non-blocking or persistent call: one whose elements outlive the call, an lvalue or a view, not a
/// temporary container.
template <class Range>
concept BorrowedData = Data<Range> && std::ranges::borrowed_range<Range>;

/// A receive buffer: Data whose elements are not const.
template <class Range>
concept WritableData = Data<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// A receive buffer of a non-blocking or persistent call.
template <class Range>
concept BorrowedWritableData = WritableData<Range> && std::ranges::borrowed_range<Range>;

/// One element, as opposed to a range of them.
template <class T>
concept Scalar =
    std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::ranges::range<T> && !std::is_pointer_v<T>;

/// An operation on two elements of type T.
template <class Op, class T>
concept OperationOn = std::is_invocable_r_v<T, Op, T, T>;

/// A container that can be resized: std::vector with any allocator, or one with the same interface.
template <class Vector>
concept ResizableData = std::ranges::contiguous_range<Vector> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Vector>> && requires(Vector& vector, std::size_t length) {
  vector.reserve(length);
  vector.resize(length);
  { vector.capacity() } -> std::convertible_to<std::size_t>;
};

}  // namespace quadrille
