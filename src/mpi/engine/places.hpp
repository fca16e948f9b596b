#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "topology/topology.hpp"

namespace quadrille::engine {

// Where a rank runs, in numbers that are the same for ranks of one node and hardly for others. Plain bytes, to be
// exchanged.
struct Place {
  std::uint64_t node = 0;
  std::uint64_t rack = 0;     // 0: unknown
  std::uint64_t machine = 0;  // nodes that are containers of one machine share its cores
};

// Of this process: its host, and the file that QUADRILLE_RACKS names. Throws Error if that can't be read.
Place own_place();

// The name that this file gives to the rack of this host; empty: none.
std::string own_rack();

// By rank.
Topology topology_of(std::span<const Place> places);

}  // namespace quadrille::engine
