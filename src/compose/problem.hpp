#pragma once

#include <cstdint>

#include "schedule/builder.hpp"

namespace quadrille {

class Topology;

// What an algorithm is given: everything its schedule may depend on. Ranks are those of the group it is built on.
struct Problem {
  Rank rank = 0;
  Rank ranks = 1;
  Rank root = 0;
  std::int64_t count = 0;    // units of one rank's data; v and w collectives do not know theirs
  bool in_place = false;     // the input is the output
  bool commutative = true;   // of a reduction's operation
  std::int64_t segment = 0;  // units of a segment, for algorithms that pipeline; 0: not cut
  std::int32_t window = 4;   // segments in flight
  Region input{.buffer = Buffer::input};
  Region output{.buffer = Buffer::output};
  const Topology* topology = nullptr;

  // The block for, or from, one peer.
  Region input_block(Rank peer) const {
    Region block = input;
    block.block += peer;
    return block;
  }
  Region output_block(Rank peer) const {
    Region block = output;
    block.block += peer;
    return block;
  }
};

}  // namespace quadrille
