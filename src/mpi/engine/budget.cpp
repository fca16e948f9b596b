#include "engine/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <quadrille/error.hpp>
#include <string>
#include <utility>

#include "engine/arena.hpp"
#include "engine/mpi.hpp"
#include "schedule/schedule.hpp"

namespace quadrille::engine {

namespace {

// A budget makes at least so many chunks, half of them where they would be short, and fewer where they would not be
// worth a message. First there are more partners, then more chunks under way with each.
constexpr std::int64_t chunks_in_budget = 4;
constexpr std::int64_t short_chunk = 8 << 10;
constexpr std::int64_t shortest_chunk = 1024;
constexpr std::int64_t long_chunk = 32 << 10;
constexpr Rank most_lanes = 8;
constexpr std::int64_t most_chunks = 16;  // more only queue up in the network
// What a chunk that must be packed takes: its place in the ring and, packed, on its way out; and, since as many
// partners need no ring, on its way out and in with those.
constexpr std::int64_t times_if_staged = 4;

std::int64_t taken(const Cut& cut, const Cut::Wanted& wanted) {
  const std::int64_t in_flight = std::int64_t{cut.lanes} * cut.window;
  const std::int64_t rings = in_flight + (wanted.rest ? cut.lanes : 0);
  return Arena::taken_for(rings * cut.chunk) +
         (wanted.staged ? (times_if_staged - 1) * in_flight * Arena::taken_for(cut.chunk) : 0);
}

}  // namespace

std::int64_t default_budget(std::int64_t data_bytes) {
  return std::max(data_bytes / 100, least_budget);
}

Cut Cut::of(std::int64_t budget, const Wanted& wanted) {
  // All that the chunk depends on besides the budget is the same on all ranks, if they are to have the same.
  Wanted worst = wanted;
  worst.staged = wanted.staged || wanted.staged_anywhere;
  const std::int64_t share = budget / (worst.staged ? times_if_staged : 1);
  const std::int64_t least = std::min({share, shortest_chunk, wanted.longest});
  const std::int64_t even = share / chunks_in_budget;
  Cut cut;
  cut.chunk =
      std::clamp(even < short_chunk ? 2 * even : even, least, std::max(least, std::min(long_chunk, wanted.longest)));
  while (cut.chunk > 0 && taken(cut, worst) > budget) cut.chunk -= std::max<std::int64_t>(1, cut.chunk / 8);
  if (cut.chunk == 0) return cut;
  // Few lengths, so that calls with a little more or less data have the same schedule; a power of two of them fits a
  // block of the arena.
  const int digits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(cut.chunk)));
  cut.chunk &= ~((std::int64_t{1} << std::max(0, digits - 4)) - 1);
  const std::int64_t slots = budget / (wanted.staged ? times_if_staged : 1) / cut.chunk;
  const Rank partners = std::max<Rank>(1, wanted.ranks - 1);
  cut.lanes = static_cast<Rank>(
      std::clamp<std::int64_t>(slots / (wanted.rest ? 2 : 1), 1, std::min({partners, most_lanes, wanted.lanes})));
  cut.window = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(slots / cut.lanes - (wanted.rest ? 1 : 0), 1, most_chunks / cut.lanes));
  while (cut.window > 1 && taken(cut, wanted) > budget) --cut.window;
  while (cut.lanes > 1 && taken(cut, wanted) > budget) --cut.lanes;
  cut.bytes = taken(cut, wanted);
  return cut;
}

AgreeOnChunks::AgreeOnChunks(std::shared_ptr<const Program> allgather, std::int64_t own,
                             std::vector<std::int64_t>& chunks)
    : allgather_(std::move(allgather)), own_(own), chunks_(chunks) {}

bool AgreeOnChunks::next(Phase& phase) {
  const auto ranks = allgather_->schedule().ranks;
  if (!std::exchange(told_, true)) {
    chunks_.assign(static_cast<std::size_t>(ranks), 0);
    constexpr std::int64_t word = sizeof(std::int64_t);
    phase.program = allgather_;
    phase.binding.input = {{reinterpret_cast<std::byte*>(&own_), word, &bytes_}};
    phase.binding.output = {{reinterpret_cast<std::byte*>(chunks_.data()), ranks * word, &bytes_}};
    return true;
  }
  const auto refuse_if_any = [this](std::int64_t word, int code, const std::string& why) {
    const auto found = std::find(chunks_.begin(), chunks_.end(), word);
    if (found != chunks_.end()) throw Error(code, fmt::format("rank {} {}", found - chunks_.begin(), why));
  };
  refuse_if_any(unequal, MPI_ERR_COUNT,
                "sends other counts than it receives, in place: alltoallv_in_place can do that");
  refuse_if_any(0, MPI_ERR_NO_MEM,
                fmt::format("may not take enough memory to swap data in place: {} bytes are the least", least_to_swap));
  refuse_if_any(exhausted, MPI_ERR_NO_MEM, "has not the memory that it may take to swap data in place");
  for (std::int64_t& one : chunks_) one = std::min(one, own_);
  return false;
}

}  // namespace quadrille::engine
