#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <quadrille/quadrille.hpp>
#include <string>
#include <vector>

namespace quadrille::test {

// Types at the two ends of a message; one that receives is made up of `factor` of those that send.
struct Types {
  std::string name = {};
  MPI_Datatype send = MPI_DATATYPE_NULL;
  MPI_Datatype receive = MPI_DATATYPE_NULL;
  std::int64_t factor = 1;
};

// Blocks one after another with a gap between them, counted in elements.
struct Row {
  std::vector<std::int64_t> counts = {};
  std::vector<std::int64_t> displacements = {};

  std::int64_t elements() const { return counts.empty() ? 0 : displacements.back() + counts.back(); }
};
Row row_of(std::vector<std::int64_t> counts);

// A rank's part in a call of any collective.
struct Call {
  Collective collective = Collective::barrier;
  int rank = 0;
  int ranks = 1;
  int root = 0;
  std::int64_t count = 0;  // elements sent, of a block or of all
  Row sends = {};          // of v and w collectives, in elements of each side's type
  Row receives = {};
  Types types = {};
  MPI_Op op = MPI_OP_NULL;
  bool in_place = false;  // if the collective has a root, there alone

  bool in_place_here() const;
  std::int64_t received() const { return count * types.factor; }
};

// Memory of both sides, filled so that every byte is different on every rank.
struct Memory {
  explicit Memory(const Call& call);

  void* input();
  void* output();

  std::vector<std::byte> input_bytes;
  std::vector<std::byte> output_bytes;
  std::ptrdiff_t first_input = 0;
  std::ptrdiff_t first_output = 0;
};

// The call by MPI itself, and by an algorithm of ours.
void by_mpi(const Call& call, Memory& memory, MPI_Comm comm);
void by_us(const Call& call, Memory& memory, Communicator& comm, const Options& options);

}  // namespace quadrille::test
