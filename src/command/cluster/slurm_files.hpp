#pragma once

#include <string>

#include "cluster/options.hpp"

namespace quadrille::cluster {

// The path of one of Slurm's files on a node. They are all in one folder of the node's own tmpfs, and vanish with it.
std::string slurm_file(const std::string& name);

// slurm.conf: node0 controls all nodes, and a slot is a core.
std::string slurm_configuration(const Options& options);

// topology.conf: racks are switches below one more. Only for clusters with racks.
std::string slurm_topology(const Options& options);

}  // namespace quadrille::cluster
