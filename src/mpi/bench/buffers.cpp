#include "bench/buffers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace quadrille::bench {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t neighbouring_lines = 128;  // that a processor fetches together

std::size_t largest_cache() {
  const long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return level3 > 0 ? static_cast<std::size_t>(level3) : std::size_t{32} << 20U;
}

std::size_t slot_for(std::int64_t bytes) {
  const auto wanted = static_cast<std::size_t>(bytes);
  const std::size_t unit = wanted < page ? neighbouring_lines : page;
  return std::max<std::size_t>((wanted + unit - 1) / unit, 1) * unit;
}

}  // namespace

Buffers::Buffers(std::int64_t input_bytes, std::int64_t output_bytes, int sharing, bool warm)
    : input_slot_(slot_for(input_bytes)), output_slot_(slot_for(output_bytes)) {
  const std::size_t beyond_cache = 2 * largest_cache() / static_cast<std::size_t>(std::max(sharing, 1));
  slots_ = warm ? 1 : 1 + beyond_cache / (input_slot_ + output_slot_);
  const std::size_t bytes = slots_ * (input_slot_ + output_slot_);
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page, (bytes + page - 1) / page * page)));
  if (!memory_) throw std::bad_alloc();
  // Zeros are numbers of every type, and writing them makes the pages real.
  std::fill_n(memory_.get(), bytes, std::byte{0});
}

void Buffers::Free::operator()(void* memory) const {
  std::free(memory);
}

Buffers::Pair Buffers::next() {
  turn_ = turn_ + 1 < slots_ ? turn_ + 1 : 0;
  std::byte* const first = memory_.get() + turn_ * (input_slot_ + output_slot_);
  return {first, first + input_slot_};
}

}  // namespace quadrille::bench
