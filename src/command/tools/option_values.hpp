#pragma once

#include <CLI/CLI.hpp>

namespace quadrille::tools {

// For options whose values are collectives: bcast or MPI_Bcast, which becomes bcast. Others are refused, with the
// nearest name.
CLI::Validator collective_names();

// For options that are numbers of bytes or elements: 1MB becomes 1048576.
CLI::Validator sizes_in_bytes();

}  // namespace quadrille::tools
