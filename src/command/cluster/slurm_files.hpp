#pragma once

#include <string>

#include "cluster/options.hpp"

namespace quadrille::cluster {

// Slurm's files on a node, all in a folder of the node's own tmpfs, so that they vanish with it.
constexpr const char* slurm_folder = "/dev/shm/slurm";

// The path of a file there.
std::string slurm_file(const std::string& name);

// slurm.conf: node0 controls all nodes, and a slot is a core.
std::string slurm_configuration(const Options& options);

// topology.conf: racks are switches below one more. Only for clusters with racks.
std::string slurm_topology(const Options& options);

}  // namespace quadrille::cluster
