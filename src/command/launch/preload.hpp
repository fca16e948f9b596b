#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch/mpi.hpp"

namespace quadrille::launch {

using Variables = std::vector<std::pair<std::string, std::string>>;

// The programs that start the ranks of a job.
enum class Launcher { openmpi, hydra, srun };

// Which of them a command is, by its name or by what it says of itself.
std::optional<Launcher> detect_launcher(const std::string& program);

// The MPI whose programs it starts, where only one's can be.
std::optional<Mpi> mpi_of(Launcher launcher);

// The launcher's command line, changed so that the ranks see the variables, and the launcher itself does not.
std::vector<std::string> with_variables(Launcher launcher, std::vector<std::string> words, const Variables& variables);

}  // namespace quadrille::launch
