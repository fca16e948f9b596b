#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "engine/mpi.hpp"
#include "run/memory.hpp"

namespace quadrille::engine {

// Whether an operation of MPI's own has a meaning for elements of this type. True of all others.
bool fits(MPI_Op op, MPI_Datatype type);

// An operation of MPI on a type, as run/ wants it. Borrows both handles.
struct Reduction {
  ReduceFunction function;
  bool commutative;
  CombineFunction kernel = nullptr;  // see kernel_of
  std::int32_t code = -1;            // of an operation of MPI's own: which; to be compared across ranks
};
Reduction reduction_of(MPI_Op op, MPI_Datatype type);

// Whether the operation is MPI's own, which nobody can free.
bool is_predefined_operation(MPI_Op op);

// "MPI_SUM", by Reduction::code.
std::string_view name_of_operation(std::int32_t code);

// Keeps an operation and a type usable after the user has freed them, as MPI allows while a collective is pending. A
// type lives on in another that is made of it; not in a duplicate, since the user's function expects the handle that
// was passed. An operation has no such thing, so free_operation, which the library puts in MPI_Op_free's place, waits
// until nobody keeps it any more. Where MPI_Op_free is not ours, by the order of linking, Kept throws Error.
class Kept {
 public:
  Kept() = default;
  Kept(MPI_Op op, MPI_Datatype type);
  Kept(Kept&& other) noexcept { swap(other); }
  Kept& operator=(Kept&& other) noexcept {
    Kept(std::move(other)).swap(*this);
    return *this;
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept();

 private:
  void swap(Kept& other) noexcept {
    std::swap(op_, other.op_);
    std::swap(holder_, other.holder_);
  }

  MPI_Op op_ = MPI_OP_NULL;                  // null if it is MPI's own, which nobody can free
  MPI_Datatype holder_ = MPI_DATATYPE_NULL;  // likewise
};

// MPI_Op_free, but for operations that are kept: those go when the last keeper does.
int free_operation(MPI_Op* op);

}  // namespace quadrille::engine
