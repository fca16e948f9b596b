#pragma once

#include <sys/types.h>

#include <string>

#include "cluster/options.hpp"
#include "launch/system.hpp"

namespace quadrille::cluster {

// Each node has its own file system in memory there, and the keeper has, for what it shows to all nodes.
constexpr const char* shared_memory = "/dev/shm";
constexpr const char* hosts_file = "/dev/shm/hosts";

// A program on every node that does for the launchers of MPI what ssh does. Open MPI looks for it on all of them.
constexpr const char* agent_file = "/dev/shm/.quadrille-agent";

// A node is the namespaces of a process that does nothing: it holds them.
struct Node {
  pid_t holder;
  launch::Descriptor report;  // says what went wrong; ends when the node is ready
};

// In the keeper. `agent` is the text of the program. A node sets up its end of the network as soon as `start` has no
// writer any more.
Node make_node(const Options& options, int node, const std::string& agent, const launch::Pipe& start);

// Moves this process, which must be in the cluster, to a node. Throws std::runtime_error if that is gone.
void enter_node(pid_t holder, int node, bool skew);

}  // namespace quadrille::cluster
