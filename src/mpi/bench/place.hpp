#pragma once

#include <cstdint>
#include <optional>
#include <quadrille/quadrille.hpp>

#include "bench/clocks.hpp"

namespace quadrille::bench {

// What is known of the place it runs in.
struct Place {
  int rank = 0;
  int ranks = 1;
  int nodes = 1;
  int neighbours = 1;            // ranks of this node
  double cores = 1;              // that a node may keep busy
  double rate_bits = 0;          // of a node's link; 0: unknown
  double uplink_bits = 0;        // of a rack's
  bool oversubscribed = false;   // on some node
  double clock_uncertainty = 0;  // seconds; of the node where it is worst
};

// Called by all ranks.
Place place_of(Communicator& comm, const Clocks& clocks);

// Seconds that a node's link needs at least, for the bytes that must cross it; none where nothing must, or no rate is
// known.
std::optional<double> floor_of(Collective collective, std::int64_t bytes, const Place& place);

}  // namespace quadrille::bench
