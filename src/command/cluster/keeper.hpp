#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "cluster/options.hpp"
#include "cluster/state.hpp"

namespace quadrille::cluster {

// Brings a cluster up. It lasts until it is taken down, its file is removed, or `while_process` ends. Throws
// std::invalid_argument or std::runtime_error with the cause; then nothing is left behind.
State up(const Options& options, std::optional<pid_t> while_process = std::nullopt);

// Takes a cluster down. On return all its processes are gone. Throws std::runtime_error if it is not up.
void down(const std::string& name);

}  // namespace quadrille::cluster
