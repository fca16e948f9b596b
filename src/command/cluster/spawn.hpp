#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace quadrille::cluster {

// fork, with flags of clone: into new namespaces, or as a child of this process's own parent. Less than 0 as errno
// says.
pid_t fork_with(unsigned long flags);

// All but these and the standard ones. Numbers less than 0 are none. Throws std::runtime_error.
void close_all_but(std::vector<int> kept);

// An existing or a new file. Throws std::runtime_error.
void write_file(const std::string& path, const std::string& text);

}  // namespace quadrille::cluster
