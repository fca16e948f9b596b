#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <quadrille/detail/call.hpp>

#include "api/local_call.hpp"
#include "engine/reduction.hpp"
#include "interpose/outcome.hpp"
#include "learn/lessons.hpp"

namespace quadrille::interpose {

// Where to look for a number in a small table of so many places, as a power of two.
inline std::size_t place_of(std::uint64_t number, unsigned bits) {
  return number * 0x9e3779b97f4a7c15U >> (64 - bits);
}

// Calls that were made before, in as much as what becomes of them depends on it: programs call the same again and
// again, and a call that is passed through should cost next to nothing. Of any two whose hashes are alike the later one
// stays.
class RecentCalls {
 public:
  struct Known {
    learn::CaseLesson* lesson = nullptr;    // that they belong to; null: they are passed through
    Outcome outcome = Outcome::not_faster;  // then, why
  };

  // Null: there was none of the same arguments. Inlined: what describes a call is then never in memory.
  [[gnu::always_inline]] const Known* find_same(const detail::Call& call) const {
    const Entry& entry = entries_[place(call)];
    return entry.is(call) ? &entry.known : nullptr;
  }
  // Null: there was none like it.
  const Known* find(const detail::Call& call) const {
    if (const Known* const same = find_same(call)) return same;
    const Shape shape = shape_of(call);
    const Shaped& like = shapes_[place(shape)];
    return shape.is_whole() && like.shape == shape ? &like.known : nullptr;
  }
  // `memorable`: what becomes of it follows from its arguments.
  void keep(const detail::Call& call, const Known& known, bool memorable) {
    if (memorable && is_short(call.input.count) && is_short(call.output.count)) {
      entries_[place(call)] = {call.input.type,
                               call.output.type,
                               call.op,
                               static_cast<std::int32_t>(call.input.count),
                               static_cast<std::int32_t>(call.output.count),
                               call.root,
                               call.collective,
                               flags(call),
                               known};
    }
    const Shape shape = shape_of(call);
    if (shape.is_whole()) shapes_[place(shape)] = {shape, known};
  }

 private:
  // One line of a cache.
  struct alignas(64) Entry {
    MPI_Datatype input_type = MPI_DATATYPE_NULL;
    MPI_Datatype output_type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    std::int32_t input_count = 0;
    std::int32_t output_count = 0;
    int root = 0;
    Collective collective = Collective::barrier;
    std::uint8_t flags = 0;  // of no call: there is none
    Known known;

    [[gnu::always_inline]] bool is(const detail::Call& call) const {
      return flags == RecentCalls::flags(call) && collective == call.collective && input_count == call.input.count &&
             output_count == call.output.count && input_type == call.input.type && output_type == call.output.type &&
             op == call.op && root == call.root && !same_buffer(call) && !call.input.counts && !call.output.counts;
    }
  };
  static_assert(sizeof(Entry) == 64);

  // What matters of its buffers.
  [[gnu::always_inline]] static std::uint8_t flags(const detail::Call& call) {
    const auto flag = [](bool is, unsigned place) { return static_cast<unsigned>(is) << place; };
    return static_cast<std::uint8_t>(1U | flag(call.input.address == MPI_IN_PLACE, 1) |
                                     flag(call.output.address == MPI_IN_PLACE, 2) | flag(nowhere(call.input), 3) |
                                     flag(nowhere(call.output), 4));
  }
  static bool is_short(std::int64_t count) { return count == static_cast<std::int32_t>(count); }

  // A bcast of any type, or a reduction by an operation of the program's: what becomes of it follows from this, and
  // some programs make a type and an operation for each call.
  struct Shape {
    Collective collective = Collective::barrier;
    bool commutative = true;
    bool input_nowhere = false;
    bool output_nowhere = false;
    int root = 0;
    std::int64_t count = -1;
    std::int64_t unit = 1;
    std::int64_t extent = 1;

    bool is_whole() const { return count >= 0; }
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  struct Shaped {
    Shape shape;
    Known known;
  };

  // Not whole if there is none.
  static Shape shape_of(const detail::Call& call) {
    Shape shape{.collective = call.collective,
                .input_nowhere = nowhere(call.input),
                .output_nowhere = nowhere(call.output),
                .root = call.root};
    const bool reduces = traits(call.collective).reduces;
    if ((!reduces && call.collective != Collective::bcast) || call.output.counts) return shape;
    MPI_Datatype type = call.output.type;
    MPI_Count size = 0;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return shape;
    if (!reduces) {
      const bool fits = !__builtin_mul_overflow(call.output.count, std::int64_t{size}, &shape.count);
      if (!fits) shape.count = -1;
      return shape;
    }
    if (call.op == MPI_OP_NULL || engine::is_predefined_operation(call.op) || same_buffer(call)) return shape;
    int commutative = 0;
    if (PMPI_Op_commutative(call.op, &commutative) != MPI_SUCCESS) return shape;
    shape.commutative = commutative != 0;
    shape.count = call.output.count;
    shape.unit = size;
    shape.extent = api::extent_of(type);
    return shape;
  }

  // One buffer for both, which MPI forbids and we take for MPI_IN_PLACE.
  static bool same_buffer(const detail::Call& call) {
    return call.input.address && call.input.address == call.output.address;
  }

  // MPI may refuse it, where it is looked at.
  static bool nowhere(const detail::UserBuffer& buffer) { return !buffer.address && buffer.count > 0; }

  static std::uint64_t mixed(Collective collective, int root, std::int64_t first, std::int64_t second) {
    const auto number = [](std::int64_t any) { return static_cast<std::uint64_t>(any); };
    return static_cast<std::uint64_t>(collective) + 32 * number(root) + 4096 * (number(first) + 5 * number(second));
  }
  static std::size_t place(const detail::Call& call) {
    return place_of(mixed(call.collective, call.root, call.input.count, call.output.count), bits);
  }
  static std::size_t place(const Shape& shape) {
    return place_of(mixed(shape.collective, shape.root, shape.count, shape.unit), bits);
  }

  static constexpr unsigned bits = 6;
  std::array<Entry, std::size_t{1} << bits> entries_ = {};
  std::array<Shaped, std::size_t{1} << bits> shapes_ = {};
};

}  // namespace quadrille::interpose
