#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "placement/mapper.hpp"

namespace quadrille::placement {

// Slots of a rack or node: what their ranks send to each other stays among them.
struct Domain {
  std::vector<std::int32_t> slots;
  double slower = 1;  // see Ground
};

// The ranks of each domain, at most as many as it has slots; those that are fixed are where they have to be.
using Division = std::vector<std::vector<Rank>>;
using Divide = std::function<Division(const std::vector<Rank>& ranks, const std::vector<Domain>& domains)>;

// Divides the ranks among racks, then those of each rack among its nodes. Domains come in the order they are to be
// filled in, where not all are needed: the fastest first, then the largest.
Placement by_domains(const Mapping& mapping, const Divide& divide);

// The slot that a rank is fixed to; -1: none.
inline std::int32_t fixed_slot(const Mapping& mapping, Rank rank) {
  return mapping.fixed.empty() ? -1 : mapping.fixed[static_cast<std::size_t>(rank)];
}

// The number of the domain that each slot is in; -1: in none.
std::vector<std::int32_t> domains_of_slots(const Mapping& mapping, const std::vector<Domain>& domains);

// Calls see(peer, seconds that are saved where both are on one node) for each edge of a rank. A byte saves at least its
// time on the link, which all ranks of a node share, though a fast network may take less of a core than a node's
// memory.
template <typename See>
void for_peers(const Mapping& mapping, Rank rank, const See& see) {
  const cost::Link& network = mapping.ground.model.network;
  const cost::Link& node = mapping.ground.model.node;
  const double message = std::max(0.0, network.latency + network.overhead - node.latency - node.overhead);
  const double byte = network.wire + std::max(0.0, network.work - node.work);
  for (const Phase& phase : mapping.phases) {
    for (const Graph::Edge& edge : phase.graph.edges(rank)) {
      see(edge.peer, phase.times * (edge.messages() * message + edge.bytes() * byte));
    }
  }
}

}  // namespace quadrille::placement
