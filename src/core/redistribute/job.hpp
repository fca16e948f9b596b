#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "layout/layout.hpp"
#include "redistribute/space.hpp"

namespace quadrille::redistribute {

// One rank's part in an irregular all-to-all within one buffer. All memory is borrowed for the lifetime of the machine.
// Send and receive counts must match; this is not checked. Send blocks may overlap receive blocks arbitrarily.
struct Job {
  Rank rank = 0;
  Rank ranks = 1;
  Blocks send;
  Blocks receive;
  // How elements lie in the buffer: each within its own extent, which is positive. Gaps are not written.
  Layout element = Layout::basic(1);
  std::byte* data = nullptr;      // the buffer; displacements are relative to it and not negative
  std::span<std::byte> extra;     // at least one element, packed
  std::span<std::int64_t> words;  // the contents of grants; Redistribution::words of them
  std::int64_t in_flight = 8;     // chunks granted at a time; at most Redistribution::max_in_flight
  std::int64_t slack = -1;        // fragments beyond the required minimum; negative: default
  // Bytes of a message that every rank can pack, if it must; a single element may have more.
  std::int64_t part = std::numeric_limits<std::int64_t>::max();
  // Messages of data that it sends at a time.
  std::int64_t sends = std::numeric_limits<std::int64_t>::max();
  std::int32_t grants = 1;  // the channel of grants, which are received from anyone; that of data is 0
};

}  // namespace quadrille::redistribute
