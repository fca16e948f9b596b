#include "run/arena.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace quadrille {

namespace {

constexpr std::size_t cache_line = 64;

// In front of each block, on a cache line of its own.
struct Header {
  std::size_t size_class;
};

// Eight sizes between one power of two and the next: at most an eighth of a block is wasted.
std::int64_t bytes_of(std::size_t size_class) {
  const std::int64_t power = std::int64_t{1} << (size_class / 8);
  return power + power / 8 * static_cast<std::int64_t>(size_class % 8);
}

std::size_t class_of(std::int64_t bytes) {
  const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, cache_line));
  const auto logarithm = static_cast<std::size_t>(std::bit_width(size)) - 1;
  const std::uint64_t step = (std::uint64_t{1} << logarithm) / 8;
  return 8 * logarithm + static_cast<std::size_t>((size - (std::uint64_t{1} << logarithm) + step - 1) / step);
}

Header& header(std::byte* block) {
  return *reinterpret_cast<Header*>(block - cache_line);
}

void free_block(std::byte* block) {
  ::operator delete (block - cache_line, std::align_val_t{cache_line});
}

}  // namespace

std::int64_t Arena::taken_for(std::int64_t bytes) {
  return bytes == 0 ? 0 : bytes_of(class_of(bytes));
}

Arena::~Arena() {
  trim(0);
}

std::byte* Arena::allocate(std::int64_t bytes) {
  const std::size_t size_class = class_of(bytes);
  auto& unused = unused_[size_class];
  std::byte* block = nullptr;
  if (!unused.empty()) {
    block = unused.back();
    unused.pop_back();
    unused_bytes_ -= bytes_of(size_class);
  } else {
    const auto size = static_cast<std::size_t>(bytes_of(size_class)) + cache_line;
    block = static_cast<std::byte*>(::operator new (size, std::align_val_t{cache_line})) + cache_line;
    header(block).size_class = size_class;
  }
  in_use_ += bytes_of(size_class);
  peak_ = std::max(peak_, in_use_);
  return block;
}

void Arena::release(std::byte* block, bool may_be_read) {
  const std::size_t size_class = header(block).size_class;
  in_use_ -= bytes_of(size_class);
  if (may_be_read) {
    given_up_.push_back(block);
    return;
  }
  if (unused_bytes_ + bytes_of(size_class) > keep_) {
    free_block(block);
    return;
  }
  unused_[size_class].push_back(block);
  unused_bytes_ += bytes_of(size_class);
}

void Arena::keep(std::int64_t bytes) {
  keep_ = bytes;
  trim(bytes);
}

void Arena::trim(std::int64_t bytes) {
  for (std::size_t size_class = unused_.size(); size_class-- > 0 && unused_bytes_ > bytes;) {
    auto& unused = unused_[size_class];
    while (!unused.empty() && unused_bytes_ > bytes) {
      free_block(unused.back());
      unused.pop_back();
      unused_bytes_ -= bytes_of(size_class);
    }
  }
}

}  // namespace quadrille
