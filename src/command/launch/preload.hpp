#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/mpi.hpp"

namespace quadrille::launch {

using Variables = std::vector<std::pair<std::string, std::string>>;

// The supported launchers; the last is `quadrille cluster run`.
enum class Launcher { openmpi, hydra, srun, cluster };

// Of a command line, by the command's name or --version output.
std::optional<Launcher> detect_launcher(const std::vector<std::string>& words);

// An option without its dashes, of which every launcher takes one or two, and without a value behind =; empty: it is
// none.
std::string_view option_name(std::string_view word);

// Where the program stands in a launcher's command line, behind the launcher's own words; their number if there is
// none. A word that may be an option's value is taken for a program only if it is linked with an MPI.
std::size_t place_of_program(const std::vector<std::string>& words);

// Whether the words are this command with these subcommands, as quadrille cluster run.
bool is_quadrille(const std::vector<std::string>& words, const std::vector<std::string>& subcommands);

// The MPI whose programs it starts, if there is only one.
std::optional<Mpi> mpi_of(Launcher launcher);

// The launcher's command line, modified to set the variables for the ranks but not for the launcher itself.
std::vector<std::string> with_variables(Launcher launcher, std::vector<std::string> words, const Variables& variables);

}  // namespace quadrille::launch
