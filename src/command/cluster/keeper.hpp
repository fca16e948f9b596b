#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "cluster/options.hpp"
#include "cluster/state.hpp"

namespace quadrille::cluster {

// Brings a cluster up. Throws std::invalid_argument or std::runtime_error that says what is missing; nothing of it is
// left then. It lasts until it is taken down, its file is gone, or the process ends.
State up(const Options& options, std::optional<pid_t> while_process = std::nullopt);

// Takes it down: when this returns, its processes are gone. Throws std::runtime_error if it is not up.
void down(const std::string& name);

}  // namespace quadrille::cluster
