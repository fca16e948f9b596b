#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "algorithms/catalogue.hpp"
#include "compose/problem.hpp"
#include "engine/mpi.hpp"
#include "select/budget.hpp"
#include "select/selector.hpp"

namespace quadrille::engine {

// How a collective is run on one rank: all that its schedule and its messages depend on besides the communicator, and
// so what they are cached by. Sizes, never handles: a handle may be freed and its value used again.
struct Shape {
  Variant variant = {};  // of data that is swapped in place with this rank's chunks
  Rank root = 0;
  std::int64_t count = 0;                  // units; 0 for collectives whose blocks are separate
  std::shared_ptr<const Shares> shares{};  // where counts differ; see Cache::shares
  std::int64_t unit_bytes = 1;
  std::int64_t room = 0;  // units of shared memory, see Problem
  Budget budget = {};     // the same on every rank, unless data is swapped
  bool in_place = false;
  bool commutative = true;
  bool fixed_order = false;
  bool offloads = false;     // of an algorithm that needs it, see Problem
  bool exposed = false;      // likewise
  bool pulls = false;        // likewise
  std::int64_t box = 0;      // likewise
  std::int64_t staging = 0;  // likewise
  bool packed = false;       // under a limit on memory: this rank's messages must be packed
  bool swaps = false;        // in place, in chunks that fit the budget, which is this rank's own affair

  friend bool operator==(const Shape&, const Shape&) = default;
};

// What tells a call from others, but for the addresses: a call with the same key as an earlier one needs no second
// look. Only calls whose handles are all predefined by MPI have one, since those are never freed; and only those with
// one block on each side.
struct CallKey {
  // A handle as a number, whichever kind of thing it is.
  template <class Handle>
  static std::uint64_t bits(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>) {
      return reinterpret_cast<std::uintptr_t>(handle);
    } else {
      return static_cast<std::uint64_t>(handle);
    }
  }

  std::uint16_t collective = 0;
  Form form = Form::blocking;
  Request::Native native = Request::Native::never;
  bool input_in_place = false;
  bool output_in_place = false;
  bool fixed_order = false;
  bool unused = false;  // no gap: keys are compared as bytes
  std::int32_t root = 0;
  std::int32_t width = 0;              // of the variant that the call names
  std::int64_t place = Variant::none;  // likewise
  std::int64_t segment = 0;            // likewise
  std::int64_t memory = 0;
  std::int64_t input_count = 0;
  std::int64_t output_count = 0;
  std::int64_t input_element = 0;  // bytes, where there is no type
  std::int64_t output_element = 0;
  std::uint64_t input_type = bits(MPI_DATATYPE_NULL);
  std::uint64_t output_type = bits(MPI_DATATYPE_NULL);
  std::uint64_t op = bits(MPI_OP_NULL);

  friend bool operator==(const CallKey& a, const CallKey& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
};
static_assert(std::has_unique_object_representations_v<CallKey>);

struct ShapeHash {
  std::size_t operator()(const Shape& shape) const;
};
struct CallKeyHash {
  // In every call, so no more than is needed.
  std::size_t operator()(const CallKey& key) const {
    // Counts may be anything: unsigned sums wrap around.
    const auto of = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
    const std::uint64_t elements =
        of(key.input_element) + 3 * of(key.output_element) + 7 * of(key.memory) + of(key.width) + 11 * of(key.segment);
    const std::uint64_t numbers =
        bits_of_small(key) ^ (of(key.input_count) + 5 * of(key.output_count)) ^ elements << 20U;
    const std::uint64_t handles = key.input_type + 3 * key.output_type + 9 * key.op;
    const std::uint64_t hash = (numbers ^ handles << 7U ^ handles >> 5U) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 32U;
  }

 private:
  static std::uint64_t bits_of_small(const CallKey& key) {
    return (static_cast<std::uint64_t>(key.collective) * 64 + static_cast<std::uint64_t>(key.form) * 16 +
            static_cast<std::uint64_t>(key.native) * 4 + (key.input_in_place ? 1U : 0U) + (key.fixed_order ? 2U : 0U))
               << 48U ^
           static_cast<std::uint64_t>(key.root) << 32U ^ static_cast<std::uint64_t>(key.place) << 24U;
  }
};

}  // namespace quadrille::engine
