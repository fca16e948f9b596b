#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace quadrille::cluster {

// fork with flags of clone, for new namespaces or CLONE_PARENT. Negative on error, see errno.
pid_t fork_with(unsigned long flags);

// Closes all descriptors except these and the standard ones. Negative ones are ignored. Throws std::runtime_error.
void close_all_but(std::vector<int> kept);

// Writes to an existing or a new file. Throws std::runtime_error.
void write_file(const std::string& path, const std::string& text);

}  // namespace quadrille::cluster
