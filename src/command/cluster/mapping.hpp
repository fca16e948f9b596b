#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/options.hpp"

namespace quadrille::cluster {

// The node of each rank.
using Mapping = std::vector<int>;

// By "block" (fills a node before the next), "cyclic" (round robin), "ppr:N" (N ranks per node), or a file with one
// node per line for each rank. Default number of ranks: as many as the slots, the N, or the lines allow. Throws
// std::invalid_argument, also if a node would get more ranks than it has slots.
Mapping mapping(const std::string& text, std::optional<int> ranks, const Options& options);

// The names of those nodes.
std::vector<std::string> hosts_of(const Mapping& mapping);

// The hostfile for Hydra. Throws std::invalid_argument for a mapping by which it would treat a host as two.
std::string hosts_for_mpich(const Mapping& mapping);

}  // namespace quadrille::cluster
