#pragma once

#include <cstdint>
#include <vector>

#include "schedule/index.hpp"
#include "verify/provenance.hpp"

namespace quadrille::verify {

// The blocks of one rank that a run has accessed.
class Memory {
 public:
  struct Block {
    std::int64_t units;  // -1: the rank has no such block
    Contents contents;
  };

  // Null if the block was not accessed.
  const Block* find(Buffer buffer, std::int32_t block) const {
    const std::int32_t number = numbers_.find({static_cast<std::int64_t>(buffer), block});
    return number < 0 ? nullptr : &blocks_[static_cast<std::size_t>(number)];
  }

  // The block, created by make() on first access. Valid until the next call.
  template <class Make>
  Block& touch(Buffer buffer, std::int32_t block, Make&& make) {
    const auto number = static_cast<std::size_t>(numbers_.add({static_cast<std::int64_t>(buffer), block}));
    if (number == blocks_.size()) blocks_.push_back(make());
    return blocks_[number];
  }

 private:
  Index<2> numbers_;  // by buffer and block
  std::vector<Block> blocks_;
};

}  // namespace quadrille::verify
