#pragma once

#include <string>

#include "cost/machine_file.hpp"

namespace quadrille {

// What is known of this machine under an MPI, which is given by name and version: the numbers of QUADRILLE_MACHINE, of
// the user's cache, or built-in ones for the network that there is. Throws std::invalid_argument if a file can't be
// read.
const cost::Machine& machine_here(const std::string& mpi);

// Built-in numbers for the network that there is.
cost::Machine built_in_here();

// The same as machine_here where no MPI runs: of the files that the cache has for machines like this one, that of the
// MPI whose name has this text in it. Throws std::invalid_argument if there are several, with their names.
cost::Machine machine_of_any_mpi(const std::string& mpi);

// Where quadrille probe writes them: QUADRILLE_MACHINE, or a file in the user's cache; empty: there is none.
std::string machine_file_here(const std::string& mpi);

// Where what programs learn on machines like this one is kept, under all MPIs (see learn::recall): a folder in the
// user's cache, one for each machine file that QUADRILLE_MACHINE names; empty: there is none.
std::string learned_folder_here();

}  // namespace quadrille
