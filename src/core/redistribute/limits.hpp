#pragma once

#include <cstdint>

namespace quadrille::redistribute {

// How much there is to keep track of, at most: `messages` blocks are sent and received, and so many grants in flight.

// After settling: the data of a source is one fragment, except for grants that overtook others; then the parts of the
// own block; and each of the ranges in between may split one.
constexpr std::int64_t settled_fragments(std::int64_t messages, std::int64_t in_flight) {
  return 2 * messages + 2 * in_flight + 2;
}

constexpr std::int64_t default_slack(std::int64_t messages) {
  return 32 + 2 * messages;
}

// Guarantees space for one more grant after settling and moving data home.
constexpr std::int64_t fragments_limit(std::int64_t messages, std::int64_t in_flight, std::int64_t slack) {
  return settled_fragments(messages, in_flight) + in_flight + slack + 4;
}

// Each hole is between two ranges that are not free.
constexpr std::int64_t holes_limit(std::int64_t fragments, std::int64_t messages, std::int64_t in_flight) {
  return fragments + 2 * messages + in_flight + 2;
}

// Places to look at again; if there are more, all are.
constexpr std::int64_t looks_limit(std::int64_t in_flight) {
  return 4 * in_flight + 32;
}

constexpr std::int64_t rooms_limit(std::int64_t messages, std::int64_t in_flight) {
  return 2 * messages + in_flight + 2;
}

}  // namespace quadrille::redistribute
