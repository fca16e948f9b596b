#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <type_traits>

#include "quadrille/collective.hpp"

/// \cond
/// How the interfaces hand a call to the library. Not for programs.
namespace quadrille::detail {

/// An array of integers as MPI's interfaces have them: int, MPI_Count, MPI_Aint. A view.
class Integers {
 public:
  Integers() = default;
  template <class Integer>
  Integers(const Integer* array) : array_(array), wide_(sizeof(Integer) == 8) {  // NOLINT: a view, as a pointer is
    static_assert(std::is_integral_v<Integer> && (sizeof(Integer) == 4 || sizeof(Integer) == 8));
  }
  std::int64_t operator[](int index) const {
    return wide_ ? static_cast<const std::int64_t*>(array_)[index] : static_cast<const std::int32_t*>(array_)[index];
  }
  explicit operator bool() const { return array_ != nullptr; }

 private:
  const void* array_ = nullptr;
  bool wide_ = false;
};

/// One of the caller's buffers. Only what MPI says is significant on this rank is looked at.
struct UserBuffer {
  const void* address = nullptr;          ///< MPI_IN_PLACE where MPI allows it
  std::int64_t count = 0;                 ///< elements, of each block where there are several
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< null: elements of element_bytes
  std::int64_t element_bytes = 0;
  Integers counts = {};                 ///< in place of count: of each block
  Integers displacements = {};          ///< of each block, in extents, with types in bytes; none: one after another
  const MPI_Datatype* types = nullptr;  ///< in place of type: of each block
};

/// right = left op right, for so many elements.
using Combine = std::function<void(const void* left, void* right, std::int64_t count)>;

/// A call of any collective.
struct Call {
  Collective collective = Collective::barrier;
  UserBuffer input = {};
  UserBuffer output = {};
  int root = 0;
  MPI_Op op = MPI_OP_NULL;  ///< of a reduction; null: combine
  Combine combine = {};
  bool commutative = false;  ///< of combine
  bool unequal = false;      ///< in place, this rank wants to send other counts than it receives
};

inline Call moved(Collective collective, const UserBuffer& input, const UserBuffer& output, int root = 0) {
  return {.collective = collective, .input = input, .output = output, .root = root};
}

inline Call reduced(Collective collective, const UserBuffer& input, const UserBuffer& output, MPI_Op op, int root = 0) {
  return {.collective = collective, .input = input, .output = output, .root = root, .op = op};
}

}  // namespace quadrille::detail
/// \endcond
