#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cluster/state.hpp"

namespace quadrille::cluster {

// Runs a function in a new process inside the cluster, in the switch's network namespace. Signals to this process are
// forwarded to it; if this process dies, it receives `when_orphaned`. Returns its exit status.
int in_cluster(const State& state, const std::function<int()>& function, int when_orphaned);

// Runs a function there and returns its result. Throws std::runtime_error if the function throws.
std::string query_cluster(const State& state, const std::function<std::string()>& function);

// The same on a node, called inside the cluster.
std::string query_node(const State& state, int node, const std::function<std::string()>& function);

// Runs a command on a node, in the current working directory.
int run_on_node(const State& state, int node, const std::vector<std::string>& words);

// The remote shell of the launchers, called inside the cluster: [option...] HOST WORD... Executes a shell on that node.
int run_remote_shell(const std::filesystem::path& state_file, const std::vector<std::string>& words);

// Entering a node changes the working directory: changes it back.
void return_to(const std::filesystem::path& folder);

}  // namespace quadrille::cluster
