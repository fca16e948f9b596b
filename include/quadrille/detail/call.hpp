#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <type_traits>

#include "quadrille/collective.hpp"

/// \cond
/// How the C++ and C interfaces and the drop-in describe a call to the library. Not part of the public interface.
namespace quadrille::detail {

/// A view of an array of integers, of any of the types that MPI's interfaces use: int, MPI_Count, MPI_Aint.
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

/// A send or receive buffer of the caller. Only the fields that MPI calls significant on this rank are read.
struct UserBuffer {
  const void* address = nullptr;          ///< MPI_IN_PLACE where MPI allows it
  std::int64_t count = 0;                 ///< elements, per block where there are several
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< null: elements of element_bytes
  std::int64_t element_bytes = 0;
  Integers counts = {};                 ///< of each block, instead of count
  Integers displacements = {};          ///< of each block, in extents, with types in bytes; null: contiguous blocks
  const MPI_Datatype* types = nullptr;  ///< of each block, instead of type
};

/// right = left op right, for `count` elements.
using Combine = std::function<void(const void* left, void* right, std::int64_t count)>;

/// A call of any collective.
struct Call {
  Collective collective = Collective::barrier;
  UserBuffer input = {};
  UserBuffer output = {};
  int root = 0;
  MPI_Op op = MPI_OP_NULL;           ///< of a reduction; null: combine
  const Combine* combine = nullptr;  ///< read while the call is prepared
  bool commutative = false;          ///< of combine
  /// In place, with counts of what is sent: ranks tell each other whether these are wrong.
  bool own_send_counts = false;
  bool unequal = false;  ///< they are: they differ from this rank's receive counts
};

/// A call of a collective that moves data, or of barrier.
inline Call data_call(Collective collective, const UserBuffer& input, const UserBuffer& output, int root = 0) {
  return {.collective = collective, .input = input, .output = output, .root = root};
}

/// A call of a reduction or scan with an operation of MPI.
inline Call reduction_call(Collective collective, const UserBuffer& input, const UserBuffer& output, MPI_Op op,
                           int root = 0) {
  return {.collective = collective, .input = input, .output = output, .root = root, .op = op};
}

}  // namespace quadrille::detail
/// \endcond
