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

// What is known of a cluster that is up. It lives in a file, one a cluster, in a folder of the user's.
struct State {
  Options options;
  ProcessIdentity keeper;      // as the machine counts processes
  std::vector<pid_t> holders;  // a node's, as the cluster counts them
  bool user_namespace = false;
  std::string boot;                     // of the machine, and the namespace that counts the keeper:
  std::uint64_t process_namespace = 0;  // elsewhere its number means nothing
};

// What the keeper, the first process of a cluster, is called.
constexpr std::string_view keeper_name = "quadrille-keep";

// Puts in where and since when processes have their numbers.
void set_origin(State& state);

// As it stands in the file.
std::string to_text(const State& state);
State from_text(const std::string& text);

// The file for a cluster of that name.
std::filesystem::path state_file(const std::string& name);

// Throws std::runtime_error where the file can't be read or is not this user's.
State read_state(const std::filesystem::path& file);

// The state of a cluster, if it is up. A file of one that is gone is removed. Throws std::runtime_error where that
// can't be told: inside a cluster, in another namespace of processes, or if the file is damaged.
std::optional<State> find_state(const std::string& name);

// The same; throws std::runtime_error that says how to bring one up.
State require_state(const std::string& name);

// Makes the file. False if there is one already.
bool write_state(const State& state);

// If the file is still that of this cluster. Also the folder, if nothing is left in it.
void remove_state(const std::filesystem::path& file, const State& state);

// The names of all clusters of this user that are up.
std::vector<std::string> names_of_clusters();

}  // namespace quadrille::cluster
