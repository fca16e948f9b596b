#include "api/range_calls.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <quadrille/error.hpp>
#include <span>
#include <string>
#include <utility>

#include "algorithms/collective.hpp"

namespace quadrille::api {

namespace {

using detail::Call;
using detail::RangeCall;
using detail::UserBuffer;

[[noreturn]] void refuse(Collective collective, const std::string& why) {
  throw Error(MPI_ERR_COUNT, fmt::format("{}: {}", name(collective), why));
}

// A range that holds a block for each rank; the count becomes a block's.
UserBuffer of_equal_blocks(Collective collective, UserBuffer buffer, int ranks) {
  if (buffer.count % ranks != 0) {
    refuse(collective,
           fmt::format("a range of {} elements can't be cut into a block for each of {} ranks", buffer.count, ranks));
  }
  buffer.count /= ranks;
  return buffer;
}

// The same with contiguous blocks of different sizes.
UserBuffer of_blocks(Collective collective, UserBuffer buffer, std::span<const std::int64_t> counts, int ranks) {
  if (static_cast<int>(counts.size()) != ranks) {
    refuse(collective, fmt::format("{} counts for {} ranks", counts.size(), ranks));
  }
  const std::int64_t wanted = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (wanted > buffer.count) {
    refuse(collective, fmt::format("the counts add up to {} elements, and the range holds {}", wanted, buffer.count));
  }
  buffer.counts = counts.data();
  return buffer;
}

// The rank's own block in a range of blocks.
const void* own_block(const UserBuffer& buffer, std::span<const std::int64_t> counts, int rank) {
  std::int64_t before = rank * buffer.count;
  if (!counts.empty()) before = std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
  return static_cast<const std::byte*>(buffer.address) + before * buffer.element_bytes;
}

// gather, gatherv, allgather, allgatherv
Call gathering(const RangeCall& range, const Traits& of, int rank, int ranks) {
  const auto& [root, send_counts, receive_counts] = range.arguments;
  UserBuffer input = range.input;
  UserBuffer output = range.output;
  if (!of.rooted || root == rank) {
    output = of.separate_blocks ? of_blocks(range.collective, output, receive_counts, ranks)
                                : of_equal_blocks(range.collective, output, ranks);
    if (input.count > 0 && input.address == own_block(output, receive_counts, rank)) input.address = MPI_IN_PLACE;
  }
  return detail::data_call(range.collective, input, output, root);
}

// scatter, scatterv
Call scattering(const RangeCall& range, const Traits& of, int rank, int ranks) {
  const auto& [root, send_counts, receive_counts] = range.arguments;
  UserBuffer input = range.input;
  UserBuffer output = range.output;
  if (root == rank) {
    input = of.separate_blocks ? of_blocks(range.collective, input, send_counts, ranks)
                               : of_equal_blocks(range.collective, input, ranks);
    if (output.count > 0 && output.address == own_block(input, send_counts, rank)) output.address = MPI_IN_PLACE;
  }
  return detail::data_call(range.collective, input, output, root);
}

// alltoall, alltoallv
Call exchanging(const RangeCall& range, const Traits& of, int ranks) {
  const auto& [root, send_counts, receive_counts] = range.arguments;
  UserBuffer input = range.input;
  UserBuffer output = range.output;
  const bool same_memory = input.count > 0 && input.address == output.address;
  // A rank without elements has no address to tell it by: two objects may not decide, where counts differ by rank.
  if (of.separate_blocks && same_memory && !range.same_range) {
    refuse(range.collective,
           "two ranges share their memory: pass one object as input and output, or call alltoallv_in_place");
  }
  if (range.same_range || same_memory) input.address = MPI_IN_PLACE;
  const bool in_place = input.address == MPI_IN_PLACE;
  bool unequal = false;
  if (of.separate_blocks) {
    if (!in_place) {
      input = of_blocks(range.collective, input, send_counts, ranks);
    } else {
      unequal = !std::equal(send_counts.begin(), send_counts.end(), receive_counts.begin(), receive_counts.end());
    }
    output = of_blocks(range.collective, output, receive_counts, ranks);
  } else {
    input = of_equal_blocks(range.collective, input, ranks);
    output = of_equal_blocks(range.collective, output, ranks);
  }
  Call call = detail::data_call(range.collective, input, output);
  call.own_send_counts = of.separate_blocks && in_place;
  call.unequal = unequal;
  return call;
}

Call reducing(const RangeCall& range, const Traits& of, int rank, int ranks) {
  const auto& [root, send_counts, receive_counts] = range.arguments;
  UserBuffer input = range.input;
  UserBuffer output = range.output;
  const bool receives = !of.rooted || root == rank;
  if (receives && input.count > 0 && input.address == output.address) input.address = MPI_IN_PLACE;
  if (of.counts_differ) {
    input = of_blocks(range.collective, input, receive_counts, ranks);
    const std::int64_t own = receive_counts[static_cast<std::size_t>(rank)];
    if (output.count < own) {
      refuse(range.collective,
             fmt::format("the output holds {} elements, and this rank's share is {}", output.count, own));
    }
    output.counts = receive_counts.data();
    input.counts = {};
  } else {
    if (of.input == Traits::Side::all) input = of_equal_blocks(range.collective, input, ranks);
    if (input.address == MPI_IN_PLACE && of.input == Traits::Side::all) output.count = input.count;
    if (receives && output.count != input.count) {
      refuse(range.collective,
             fmt::format("the input holds {} elements and the output {}: make them equal", input.count, output.count));
    }
    output.count = input.count;
  }
  Call call = detail::data_call(range.collective, input, output, root);
  call.combine = &range.combine;
  call.commutative = range.commutative;
  return call;
}

}  // namespace

Call checked(const RangeCall& call, int rank, int ranks) {
  const Traits of = traits(call.collective);
  if (of.reduces) return reducing(call, of, rank, ranks);
  if (of.input != Traits::Side::all) return gathering(call, of, rank, ranks);
  return of.rooted ? scattering(call, of, rank, ranks) : exchanging(call, of, ranks);
}

}  // namespace quadrille::api
