#pragma once

#include <map>

#include "knowledge/traffic.hpp"

// What this rank's MPI really sends, for each MPI in a file of its own.
namespace quadrille::test {

// All ranks of MPI_COMM_WORLD call it, before the first recording. False: this MPI's messages can't be seen.
bool can_record();

void start_recording();
// By rank in MPI_COMM_WORLD, since the start.
std::map<Rank, knowledge::Traffic> stop_recording();

}  // namespace quadrille::test
