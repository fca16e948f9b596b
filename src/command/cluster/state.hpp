#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/options.hpp"
#include "cluster/process.hpp"

namespace quadrille::cluster {

// The state of a running cluster, stored in a file in a folder of the user.
struct State {
  Options options;
  ProcessIdentity keeper;      // with its ID outside the cluster
  std::vector<pid_t> holders;  // of the nodes, with their IDs inside the cluster
  bool user_namespace = false;
  std::string boot;                     // boot ID, and the PID namespace
  std::uint64_t process_namespace = 0;  // in which the keeper's ID is valid
};

// The name of the keeper, process 1 of a cluster.
constexpr std::string_view keeper_name = "quadrille-keep";

// Sets the boot ID and the PID namespace.
void set_origin(State& state);

// The text of the file.
std::string to_text(const State& state);
State from_text(const std::string& text);

// The file for a cluster of that name.
std::filesystem::path state_file(const std::string& name);

// Throws std::runtime_error if the file can't be read or belongs to another user.
State read_state(const std::filesystem::path& file);

// The state of a cluster, if it is up. A stale file is removed. Throws std::runtime_error if that can't be determined:
// inside a cluster, in another PID namespace, or if the file is damaged.
std::optional<State> find_state(const std::string& name);

// The same, but throws std::runtime_error if it is not up.
State require_state(const std::string& name);

// Creates the file. False if it exists.
bool write_state(const State& state);

// Removes the file if it still belongs to this cluster, and the folder if it is empty.
void remove_state(const std::filesystem::path& file, const State& state);

// The names of all clusters of this user that are up.
std::vector<std::string> names_of_clusters();

}  // namespace quadrille::cluster
