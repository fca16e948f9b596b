#include "engine/reduction.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

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

bool is_predefined(MPI_Op op) {
  const std::array all = {MPI_SUM, MPI_MAX,  MPI_MIN,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                          MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
  return std::find(all.begin(), all.end(), op) != all.end();
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

bool is_named(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  check(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
  return combiner == MPI_COMBINER_NAMED;
}

Reduction reduction_of(MPI_Op op, MPI_Datatype type) {
  int commutative = 1;
  check(PMPI_Op_commutative(op, &commutative), "MPI_Op_commutative");
  return {ReduceLocal{op, type}, commutative != 0};
}

Kept::Kept(MPI_Op op, MPI_Datatype type) : type_(type) {
  if (!is_named(type)) {
    check(PMPI_Type_dup(type, &type_), "MPI_Type_dup");
    duplicated_ = true;
  }
  if (is_predefined(op)) return;
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
  if (!duplicated_ && op_ == MPI_OP_NULL) return;
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized) return;
  if (duplicated_) PMPI_Type_free(&type_);
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
