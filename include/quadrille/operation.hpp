#pragma once

#include <functional>
#include <type_traits>

namespace quadrille {

/// Whether the operation is commutative on elements of type T. Operands of one that is not, or is not known to be, are
/// combined in rank order, which rules out some algorithms. Specialise it for operations of your own:
///
///     template <>
///     inline constexpr bool quadrille::commutative<Maximum, double> = true;
template <class Op, class T>
inline constexpr bool commutative = false;
/// \cond
template <class T, class U>
inline constexpr bool commutative<std::plus<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::multiplies<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::bit_and<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::bit_or<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::bit_xor<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::logical_and<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::logical_or<U>, T> = std::is_arithmetic_v<T>;
/// \endcond

/// The type of quadrille::max: the larger of two values, the first of two that are equal.
struct Max {
  /// \cond
  template <class T>
  constexpr T operator()(const T& left, const T& right) const {
    return left < right ? right : left;
  }
  /// \endcond
};
/// The type of quadrille::min.
struct Min {
  /// \cond
  template <class T>
  constexpr T operator()(const T& left, const T& right) const {
    return right < left ? right : left;
  }
  /// \endcond
};
/// \cond
template <class T>
inline constexpr bool commutative<Max, T> = std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool commutative<Min, T> = std::is_arithmetic_v<T>;
/// \endcond

/// Operations by name, known to be commutative on numbers, which a lambda is not: comm.allreduce(mine, all,
/// quadrille::max).
///@{
inline constexpr Max max{};
inline constexpr Min min{};
inline constexpr std::plus<> sum{};
inline constexpr std::multiplies<> product{};
///@}

}  // namespace quadrille
