#pragma once

#include <string>

#include "cluster/options.hpp"

namespace quadrille::cluster {

// The machine file of clusters like this one, in the user's cache: with what follows from the rates of its links, until
// quadrille probe writes what it measures there. Empty if there is no place for it.
std::string machine_file(const Options& options, const std::string& mpi);

}  // namespace quadrille::cluster
