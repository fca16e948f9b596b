#pragma once

#include <cstdint>

#include "cost/model.hpp"

namespace quadrille::cost {

// Networks whose messages cost about the same.
enum class NetworkKind : std::uint8_t {
  kernel,  // TCP
  bypass   // InfiniBand and the like, without the kernel
};

// Seconds of a byte on an Ethernet of so many bit/s, with the headers of TCP, IP and Ethernet on full packets.
double byte_on_ethernet(double bits_a_second);

// The numbers of an ordinary machine, for want of measured ones: a node of the last ten years, and such a network with
// links of so many Mbit/s (0: as is usual). How many cores there are is left open.
Model built_in(NetworkKind kind = NetworkKind::kernel, std::int64_t megabits = 0);

}  // namespace quadrille::cost
