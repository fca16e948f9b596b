#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "engine/context.hpp"
#include "layout/layout.hpp"

namespace quadrille::api {

// The collectives as MPI's callers describe them, made into tasks that are bound and ready to start. Throws Error for
// arguments that can't be served; what all ranks must pass alike is refused on all of them alike.

// An array of integers as MPI's interfaces have them: int, MPI_Count, MPI_Aint.
class Integers {
 public:
  Integers() = default;
  template <class Integer>
  Integers(const Integer* array) : array_(array), wide_(sizeof(Integer) == 8) {  // NOLINT: a view, as a pointer is
    static_assert(std::is_integral_v<Integer> && (sizeof(Integer) == 4 || sizeof(Integer) == 8));
  }
  std::int64_t operator[](Rank index) const {
    return wide_ ? static_cast<const std::int64_t*>(array_)[index] : static_cast<const std::int32_t*>(array_)[index];
  }
  explicit operator bool() const { return array_ != nullptr; }

 private:
  const void* array_ = nullptr;
  bool wide_ = false;
};

// One side of an alltoallv. Displacements count extents of the layout; without them the blocks lie one after another.
struct Blocks {
  void* address = nullptr;
  Integers counts;
  Integers displacements;
  Layout layout;
};

using Prepared = std::unique_ptr<engine::Task>;

// `algorithm` may be null: then it is chosen. Layouts stand for the types of elements.
Prepared barrier(engine::Context& context, const Algorithm* algorithm);
Prepared bcast(engine::Context& context, void* data, std::int64_t count, const Layout& layout, Rank root,
               const Algorithm* algorithm);
// input may be MPI_IN_PLACE. The handles of the reduction must live as long as the task is used.
Prepared allreduce(engine::Context& context, const void* input, void* output, std::int64_t count, const Layout& layout,
                   const engine::Reduction& reduction, const Algorithm* algorithm);
Prepared alltoallv(engine::Context& context, const Blocks& input, const Blocks& output, const Algorithm* algorithm);

// The algorithm of that name; null if the name is empty. Throws Error where there is none, with the names there are.
const Algorithm* named(Collective collective, std::string_view name);

}  // namespace quadrille::api
