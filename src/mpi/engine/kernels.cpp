#include "engine/kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <type_traits>

namespace quadrille::engine {

namespace {

// A caller's buffer need not be aligned.
template <class Type>
struct Unaligned {
  using Element __attribute__((aligned(1), may_alias)) = Type;
};

template <class Type, class Operation>
void combine(const void* left, const void* right, void* target, std::int64_t count) {
  using Element = typename Unaligned<Type>::Element;
  const auto* a = static_cast<const Element*>(left);
  const auto* b = static_cast<const Element*>(right);
  auto* result = static_cast<Element*>(target);
  // Where the target is an operand, each element is still read before it is written.
#ifndef __clang__
#pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < count; ++i) result[i] = Operation{}(Type{a[i]}, Type{b[i]});
}

struct Least {
  auto operator()(auto a, auto b) const { return std::min(a, b); }
};
struct Greatest {
  auto operator()(auto a, auto b) const { return std::max(a, b); }
};
// Integers wrap around, whether they have a sign or not.
template <class Operation>
struct Wrapping {
  template <class Type>
  Type operator()(Type a, Type b) const {
    if constexpr (std::is_integral_v<Type>) {
      using Wide = std::common_type_t<std::make_unsigned_t<Type>, unsigned>;
      return static_cast<Type>(Operation{}(static_cast<Wide>(a), static_cast<Wide>(b)));
    } else {
      return Operation{}(a, b);
    }
  }
};
template <class Operation>
struct Bitwise {
  template <class Type>
  Type operator()(Type a, Type b) const {
    return static_cast<Type>(Operation{}(a, b));
  }
};

template <class Type>
CombineFunction kernel_on(MPI_Op op) {
  if (op == MPI_SUM) return combine<Type, Wrapping<std::plus<>>>;
  if (op == MPI_PROD) return combine<Type, Wrapping<std::multiplies<>>>;
  if constexpr (std::is_integral_v<Type>) {
    if constexpr (std::is_signed_v<Type>) {
      if (op == MPI_MIN) return combine<Type, Least>;
      if (op == MPI_MAX) return combine<Type, Greatest>;
    }
    if (op == MPI_BAND) return combine<Type, Bitwise<std::bit_and<>>>;
    if (op == MPI_BOR) return combine<Type, Bitwise<std::bit_or<>>>;
    if (op == MPI_BXOR) return combine<Type, Bitwise<std::bit_xor<>>>;
  }
  return nullptr;
}

template <class Type>
bool is_one_of(MPI_Datatype type, std::initializer_list<MPI_Datatype> names) {
  int size = 0;
  return std::find(names.begin(), names.end(), type) != names.end() && PMPI_Type_size(type, &size) == MPI_SUCCESS &&
         size == static_cast<int>(sizeof(Type));
}

}  // namespace

CombineFunction kernel_of(MPI_Op op, MPI_Datatype type) {
  if (is_one_of<double>(type, {MPI_DOUBLE, MPI_DOUBLE_PRECISION})) return kernel_on<double>(op);
  if (is_one_of<float>(type, {MPI_FLOAT, MPI_REAL})) return kernel_on<float>(op);
  if (is_one_of<std::int32_t>(type, {MPI_INT, MPI_INT32_T, MPI_INTEGER})) return kernel_on<std::int32_t>(op);
  if (is_one_of<std::int64_t>(type, {MPI_LONG, MPI_LONG_LONG, MPI_INT64_T})) return kernel_on<std::int64_t>(op);
  if (is_one_of<std::uint32_t>(type, {MPI_UNSIGNED, MPI_UINT32_T})) return kernel_on<std::uint32_t>(op);
  if (is_one_of<std::uint64_t>(type, {MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T})) {
    return kernel_on<std::uint64_t>(op);
  }
  return nullptr;
}

}  // namespace quadrille::engine
