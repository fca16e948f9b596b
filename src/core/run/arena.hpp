#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace quadrille {

// All memory that depends on the size of the data and is not the user's: scratch, and packed messages. Blocks are
// aligned to a cache line. Small sets of blocks are kept for reuse, so that a repeated collective asks nobody.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // A block that is given back with its owner.
  class Block;

  // Throws std::bad_alloc.
  std::byte* allocate(std::int64_t bytes);
  // A block that somebody may still read is never used again, and no longer counted.
  void release(std::byte* block, bool may_be_read = false);

  // What a block of so many bytes really takes, up to an eighth more.
  static std::int64_t taken_for(std::int64_t bytes);

  // At most so many bytes of unused blocks are kept; whatever is more goes back at once.
  void keep(std::int64_t bytes);

  std::int64_t in_use() const { return in_use_; }
  std::int64_t peak() const { return peak_; }
  void forget_peak() { peak_ = in_use_; }

 private:
  void trim(std::int64_t bytes);

  std::array<std::vector<std::byte*>, 8 * 63> unused_;  // by their size class
  std::vector<std::byte*> given_up_;
  std::int64_t unused_bytes_ = 0;
  std::int64_t keep_ = 32 << 20;
  std::int64_t in_use_ = 0;
  std::int64_t peak_ = 0;
};

class Arena::Block {
 public:
  Block() = default;
  Block(Arena& arena, std::int64_t bytes) : arena_(&arena), memory_(arena.allocate(bytes)), bytes_(bytes) {}
  Block(Block&& other) noexcept { swap(other); }
  Block& operator=(Block&& other) noexcept {
    Block(std::move(other)).swap(*this);
    return *this;
  }
  ~Block() {
    if (memory_) arena_->release(memory_);
  }

  std::span<std::byte> bytes() const { return {memory_, static_cast<std::size_t>(bytes_)}; }

 private:
  void swap(Block& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
  }

  Arena* arena_ = nullptr;
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace quadrille
