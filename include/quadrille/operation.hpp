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

}  // namespace quadrille
