#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <quadrille/detail/call.hpp>

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

  // Null: there was none like it.
  const Known* find(const detail::Call& call) const {
    const Entry& entry = entries_[place(call)];
    if (entry.is(call)) return &entry.known;
    return is_of_bytes(call) ? find_bytes(call.root, bytes(call)) : nullptr;
  }
  void keep(const detail::Call& call, const Known& known) {
    entries_[place(call)] = {true,
                             call.collective,
                             call.input.address == MPI_IN_PLACE,
                             call.output.address == MPI_IN_PLACE,
                             call.root,
                             call.input.count,
                             call.output.count,
                             call.input.type,
                             call.output.type,
                             call.op,
                             known};
  }
  // Likewise, of any type: what becomes of a bcast follows from its bytes. Some programs make a type for each call.
  static bool is_of_bytes(const detail::Call& call) {
    return call.collective == Collective::bcast && call.output.type != MPI_DATATYPE_NULL && !nowhere(call.output);
  }
  void keep_bytes(const detail::Call& call, const Known& known) {
    const std::int64_t all = bytes(call);
    bytes_[place(call.root, all)] = {call.root, all, known};
  }

 private:
  struct Entry {
    bool used = false;
    Collective collective = Collective::barrier;
    bool input_in_place = false;
    bool output_in_place = false;
    int root = 0;
    std::int64_t input_count = 0;
    std::int64_t output_count = 0;
    MPI_Datatype input_type = MPI_DATATYPE_NULL;
    MPI_Datatype output_type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    Known known;

    bool is(const detail::Call& call) const {
      return used && collective == call.collective && input_count == call.input.count &&
             output_count == call.output.count && input_type == call.input.type && output_type == call.output.type &&
             op == call.op && root == call.root && !same_buffer(call) && !nowhere(call.input) &&
             !nowhere(call.output) && input_in_place == (call.input.address == MPI_IN_PLACE) &&
             output_in_place == (call.output.address == MPI_IN_PLACE) && !call.input.counts && !call.output.counts;
    }
  };

  struct Bytes {
    int root = 0;
    std::int64_t bytes = -1;
    Known known;
  };

  const Known* find_bytes(int root, std::int64_t all) const {
    const Bytes& entry = bytes_[place(root, all)];
    return entry.bytes == all && entry.root == root && all >= 0 ? &entry.known : nullptr;
  }

  static std::int64_t bytes(const detail::Call& call) {
    MPI_Count size = 0;
    std::int64_t all = 0;
    const bool fits = PMPI_Type_size_x(call.output.type, &size) == MPI_SUCCESS && size >= 0 &&
                      !__builtin_mul_overflow(call.output.count, std::int64_t{size}, &all);
    return fits ? all : -1;
  }

  // One buffer for both, which MPI forbids and we take for MPI_IN_PLACE.
  static bool same_buffer(const detail::Call& call) {
    return call.input.address && call.input.address == call.output.address;
  }

  // MPI may refuse it.
  static bool nowhere(const detail::UserBuffer& buffer) { return !buffer.address && buffer.count > 0; }

  static std::size_t place(const detail::Call& call) {
    const auto number = [](std::int64_t any) { return static_cast<std::uint64_t>(any); };
    const std::uint64_t all = static_cast<std::uint64_t>(call.collective) + 32 * number(call.root) +
                              4096 * (number(call.input.count) + 5 * number(call.output.count));
    return place_of(all, bits);
  }
  static std::size_t place(int root, std::int64_t all) {
    return place_of(static_cast<std::uint64_t>(all) + 4096 * static_cast<std::uint64_t>(root), bits);
  }

  static constexpr unsigned bits = 6;
  std::array<Entry, std::size_t{1} << bits> entries_ = {};
  std::array<Bytes, std::size_t{1} << bits> bytes_ = {};
};

}  // namespace quadrille::interpose
