#include "engine/reduction.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <quadrille/error.hpp>
#include <vector>

#include "engine/datatype.hpp"
#include "engine/kernels.hpp"

namespace quadrille::engine {

namespace {

struct KeptOperation {
  MPI_Op op;
  int keepers;
  bool freed;  // by the user
};
std::mutex kept_mutex;
std::vector<KeptOperation> kept_operations;

auto find_kept(MPI_Op op) {
  return std::find_if(kept_operations.begin(), kept_operations.end(),
                      [op](const KeptOperation& kept) { return kept.op == op; });
}

// MPI's own operations. A function, since Open MPI's are addresses that only the running program knows.
auto predefined() {
  return std::array<std::pair<MPI_Op, std::string_view>, 14>{{{MPI_SUM, "MPI_SUM"},
                                                              {MPI_MAX, "MPI_MAX"},
                                                              {MPI_MIN, "MPI_MIN"},
                                                              {MPI_PROD, "MPI_PROD"},
                                                              {MPI_LAND, "MPI_LAND"},
                                                              {MPI_BAND, "MPI_BAND"},
                                                              {MPI_LOR, "MPI_LOR"},
                                                              {MPI_BOR, "MPI_BOR"},
                                                              {MPI_LXOR, "MPI_LXOR"},
                                                              {MPI_BXOR, "MPI_BXOR"},
                                                              {MPI_MAXLOC, "MPI_MAXLOC"},
                                                              {MPI_MINLOC, "MPI_MINLOC"},
                                                              {MPI_REPLACE, "MPI_REPLACE"},
                                                              {MPI_NO_OP, "MPI_NO_OP"}}};
}

// The place of an operation among MPI's own; -1 if it is the user's.
std::int32_t code_of(MPI_Op op) {
  const auto all = predefined();
  const auto* const place = std::find_if(all.begin(), all.end(), [op](const auto& one) { return one.first == op; });
  return place == all.end() ? -1 : static_cast<std::int32_t>(place - all.begin());
}

// Whether a call of MPI_Op_free comes to this library: it does if it is linked before MPI.
bool frees_operations() {
  static const bool ours = [] {
    Dl_info here{};
    Dl_info there{};
    void* called = dlsym(RTLD_DEFAULT, "MPI_Op_free");
    return called && dladdr(called, &there) != 0 && dladdr(reinterpret_cast<void*>(&code_of), &here) != 0 &&
           here.dli_fbase == there.dli_fbase;
  }();
  return ours;
}

// MPI_Reduce_local makes the first operand the left one and leaves the result in the second: just what we want.
struct ReduceLocal {
  MPI_Op op;
  MPI_Datatype type;

  void operator()(const void* left, void* right, std::int64_t count) const {
    if (count <= max_int_count) {
      check(PMPI_Reduce_local(left, right, static_cast<int>(count), type, op), "MPI_Reduce_local");
      return;
    }
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    check(PMPI_Type_get_extent(type, &lower_bound, &extent), "MPI_Type_get_extent");
    for (std::int64_t done = 0; done < count; done += max_int_count) {
      const auto now = static_cast<int>(std::min(count - done, max_int_count));
      check(PMPI_Reduce_local(byte_at(left, done * extent), byte_at(right, done * extent), now, type, op),
            "MPI_Reduce_local");
    }
  }
};

}  // namespace

std::string_view name_of_operation(std::int32_t code) {
  return predefined()[static_cast<std::size_t>(code)].second;
}

bool is_predefined_operation(MPI_Op op) {
  return code_of(op) >= 0;
}

// What MPI's own operations are for, as far as all MPIs agree: one that MPI accepts all the same is none the worse if
// it is left to it.
bool fits(MPI_Op op, MPI_Datatype type) {
  if (!is_predefined_operation(op) || type == MPI_DATATYPE_NULL) return true;
  if (!is_predefined(type)) return false;
  const auto is_one_of = [](const auto& all, const auto& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  const std::array pairs = {MPI_FLOAT_INT,       MPI_DOUBLE_INT, MPI_LONG_INT,          MPI_2INT,    MPI_SHORT_INT,
                            MPI_LONG_DOUBLE_INT, MPI_2REAL,      MPI_2DOUBLE_PRECISION, MPI_2INTEGER};
  const std::array complex = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_COMPLEX,
                              MPI_DOUBLE_COMPLEX};
  const std::array floating = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION};
  const std::array bitwise = {MPI_BAND, MPI_BOR, MPI_BXOR};
  const std::array logical = {MPI_LAND, MPI_LOR, MPI_LXOR};
  const std::array located = {MPI_MAXLOC, MPI_MINLOC};
  const std::array ordered = {MPI_MAX, MPI_MIN};
  if (op == MPI_REPLACE || op == MPI_NO_OP) return false;
  if (is_one_of(located, op) || is_one_of(pairs, type)) return is_one_of(located, op) && is_one_of(pairs, type);
  if (is_one_of(floating, type)) return !is_one_of(bitwise, op) && !is_one_of(logical, op);
  if (is_one_of(complex, type)) return !is_one_of(bitwise, op) && !is_one_of(logical, op) && !is_one_of(ordered, op);
  return true;
}

Reduction reduction_of(MPI_Op op, MPI_Datatype type) {
  int commutative = 1;
  check(PMPI_Op_commutative(op, &commutative), "MPI_Op_commutative");
  return {ReduceLocal{op, type}, commutative != 0, kernel_of(op, type), code_of(op)};
}

Kept::Kept(MPI_Op op, MPI_Datatype type) {
  const bool users_own = code_of(op) < 0;
  if (users_own && !frees_operations()) {
    throw Error(MPI_ERR_OP,
                "an operation of your own in a non-blocking or persistent reduction must outlive MPI_Op_free, which "
                "takes libquadrille to be linked before the MPI library: change the order, or pass a C++ function");
  }
  if (!is_predefined(type)) check(PMPI_Type_contiguous(1, type, &holder_), "MPI_Type_contiguous");
  if (!users_own) return;
  op_ = op;
  const std::lock_guard lock(kept_mutex);
  const auto place = find_kept(op);
  if (place == kept_operations.end()) {
    kept_operations.push_back({op, 1, false});
  } else {
    ++place->keepers;
  }
}

Kept::~Kept() {
  if (holder_ == MPI_DATATYPE_NULL && op_ == MPI_OP_NULL) return;
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized) return;
  if (holder_ != MPI_DATATYPE_NULL) PMPI_Type_free(&holder_);
  if (op_ == MPI_OP_NULL) return;
  const std::lock_guard lock(kept_mutex);
  const auto place = find_kept(op_);
  if (--place->keepers > 0) return;
  if (place->freed) PMPI_Op_free(&place->op);
  kept_operations.erase(place);
}

int free_operation(MPI_Op* op) {
  if (op) {
    const std::lock_guard lock(kept_mutex);
    const auto place = find_kept(*op);
    if (place != kept_operations.end()) {
      place->freed = true;
      *op = MPI_OP_NULL;
      return MPI_SUCCESS;
    }
  }
  return PMPI_Op_free(op);
}

}  // namespace quadrille::engine
