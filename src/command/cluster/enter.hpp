#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cluster/state.hpp"

namespace quadrille::cluster {

// Runs a function in a new process inside the cluster, in the switch's network. Signals sent to this process are passed
// on to that one; if this one dies, that one gets the signal `when_orphaned`. Returns its exit status.
int in_cluster(const State& state, const std::function<int()>& function, int when_orphaned);

// The text that a function returns there. Throws std::runtime_error with the text of what the function throws.
std::string query_cluster(const State& state, const std::function<std::string()>& function);

// Runs a command on a node, in the folder that this process is in.
int run_on_node(const State& state, int node, const std::vector<std::string>& words);

// As a launcher calls its remote shell, from inside the cluster: [option...] HOST WORD... Becomes a shell there.
int run_remote_shell(const std::filesystem::path& state_file, const std::vector<std::string>& words);

// To the folder, which entering a node leaves.
void return_to(const std::filesystem::path& folder);

}  // namespace quadrille::cluster
