#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/options.hpp"

namespace quadrille::cluster {

// The node of each rank.
using Mapping = std::vector<int>;

// By "block" (a node is filled before the next), "cyclic" (one rank a node, around and around), "ppr:N" (N ranks a
// node), or a file with a node a line for each rank. Without a number of ranks: as many as the slots, the N, or the
// lines allow. Throws std::invalid_argument, also if a node would get more ranks than it has slots.
Mapping mapping(const std::string& text, std::optional<int> ranks, const Options& options);

// The hosts for Open MPI's mapper "seq": a line a rank.
std::string hosts_for_openmpi(const Mapping& mapping);

// The hosts for MPICH's launcher, which fills each line's number of ranks and starts again behind the last. Throws
// std::invalid_argument for a mapping that can't be said so: of a node named twice it makes two.
std::string hosts_for_mpich(const Mapping& mapping);

}  // namespace quadrille::cluster
