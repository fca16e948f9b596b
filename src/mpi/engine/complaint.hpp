#pragma once

#include <cstdint>
#include <string>

namespace quadrille::engine {

// What one rank has to complain of before anything moves, with a number that its text has.
struct Complaint {
  enum class Of : std::int64_t {
    nothing,
    negative,   // a count or displacement
    excess,     // counts or displacements that 64 bits can't add up, in bytes
    lengths,    // so many counts or displacements, not one for each rank
    algorithm,  // that was named: there is none to choose from
    type,       // none, or one that MPI does not tell of
    extent,     // of elements, so many bytes: less than their data spans
    ragged,     // vectors, the shortest so long
    nobody,     // is to get something
    uncovered,  // so many elements, for which counts don't add up
    overlap,    // of blocks to be sent, or of blocks to be received
    outside,    // of the arrays: a block
    nowhere,    // are the arrays
    // What may be another rank's fault.
    unexpected,  // another rank sends something else than this one expects
    memory,      // is not enough
    room,        // is not there, and there is too little memory to make it
    exhausted,   // the memory that it may take can't be had
  };
  Of what = Of::nothing;
  std::int64_t detail = 0;
};

// The error's text and MPI's code for it, as all ranks throw it.
std::string text_of(const Complaint& complaint, std::int64_t rank);
int error_code_of(const Complaint& complaint);

}  // namespace quadrille::engine
