#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace quadrille::bench {

// Pairs of buffers that take turns, so many that none is in a cache when its turn comes; or one pair that stays there.
class Buffers {
 public:
  // `sharing`: ranks that share the caches.
  Buffers(std::int64_t input_bytes, std::int64_t output_bytes, int sharing, bool warm);

  struct Pair {
    const void* input;
    void* output;
  };
  Pair next();

 private:
  struct Free {
    void operator()(void* memory) const;
  };

  std::size_t input_slot_;
  std::size_t output_slot_;
  std::size_t slots_;
  std::size_t turn_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace quadrille::bench
