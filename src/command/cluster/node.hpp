#pragma once

#include <sys/types.h>

#include <string>

#include "cluster/options.hpp"
#include "launch/system.hpp"

namespace quadrille::cluster {

// Each node has its own tmpfs there, and so has the keeper, for files that all nodes see.
constexpr const char* shared_memory = "/dev/shm";
constexpr const char* hosts_file = "/dev/shm/hosts";

// A program on every node that replaces ssh for the launchers of MPI. Open MPI looks for it on all nodes.
constexpr const char* agent_file = "/dev/shm/.quadrille-agent";

// On every node of a cluster with racks: which nodes each has, for QUADRILLE_RACKS.
constexpr const char* racks_file = "/dev/shm/.quadrille-racks";

// A node consists of the namespaces of an idle process, its holder.
struct Node {
  pid_t holder;
  launch::Descriptor report;  // the error, if any; closed when the node is ready
};

// Called in the keeper. `agent` is the text of the remote shell program. The node configures its end of the network
// once the write end of `start` is closed.
Node make_node(const Options& options, int node, const std::string& agent, const launch::Pipe& start);

// Moves this process, which must be in the cluster, to a node. Throws std::runtime_error if the node is gone.
void enter_node(pid_t holder, int node, bool skew);

// For a process on a node: Quadrille knows the cluster's racks, unless the user has said something else, and Slurm's
// commands find Slurm.
void set_environment_on_node(const Options& options);

}  // namespace quadrille::cluster
