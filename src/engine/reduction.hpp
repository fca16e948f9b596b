#pragma once

#include <utility>

#include "engine/mpi.hpp"
#include "run/memory.hpp"

namespace quadrille::engine {

// An operation of MPI on a type, as run/ wants it. Borrows both handles.
struct Reduction {
  ReduceFunction function;
  bool commutative;
};
Reduction reduction_of(MPI_Op op, MPI_Datatype type);

// Keeps an operation and a type usable after the user has freed them, as MPI allows while a collective is pending. A
// type is duplicated. An operation can't be, so free_operation, which the library puts in MPI_Op_free's place, waits
// until nobody keeps it any more.
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

  MPI_Datatype type() const { return type_; }

 private:
  void swap(Kept& other) noexcept {
    std::swap(op_, other.op_);
    std::swap(type_, other.type_);
    std::swap(duplicated_, other.duplicated_);
  }

  MPI_Op op_ = MPI_OP_NULL;  // null if it is MPI's own, which nobody can free
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool duplicated_ = false;
};

// MPI_Op_free, but for operations that are kept: those go when the last keeper does.
int free_operation(MPI_Op* op);

// Whether the type is one of MPI's own.
bool is_named(MPI_Datatype type);

}  // namespace quadrille::engine
