#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <quadrille/detail/call.hpp>

#include "interpose/outcome.hpp"
#include "learn/lessons.hpp"

namespace quadrille::interpose {

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
    return entry.is(call) ? &entry.known : nullptr;
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
    return all * 0x9e3779b97f4a7c15U >> (64 - bits);
  }

  static constexpr unsigned bits = 6;
  std::array<Entry, std::size_t{1} << bits> entries_ = {};
};

}  // namespace quadrille::interpose
