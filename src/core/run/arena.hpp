#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

}  // namespace quadrille
