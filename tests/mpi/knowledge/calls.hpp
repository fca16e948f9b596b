#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "algorithms/collective.hpp"

namespace quadrille::test {

// A call of a collective with doubles. Where blocks may have sizes of their own, they do.
struct Call {
  Collective collective = Collective::barrier;
  Rank root = 0;
  std::int64_t count = 0;  // of a rank or block; of blocks that differ, the mean
  bool commutative = true;
  bool in_place = false;

  // The size of a block, by its sender and its receiver; both directions of a pair have the same.
  std::int64_t block(Rank from, Rank to) const { return count + ((from + to) % 3 - 1) * (count / 2); }
  // Where all ranks have the same block sizes: those of each.
  std::vector<std::int64_t> blocks(Rank ranks) const;
};

// Every collective with a dozen sizes from 0 to 4 MiB, as long as what a rank has in all is not too much; commutative
// and not, in place and not, with the first and the last rank as root.
std::vector<Call> all_calls(Rank ranks);

std::string text_of(const Call& call);

// Runs calls on MPI_COMM_WORLD. All ranks must.
class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Rank rank() const { return rank_; }
  Rank ranks() const { return ranks_; }
  void run(const Call& call);

 private:
  void run_with_counts(const Call& call);
  const void* input(const Call& call, bool here) const;

  int rank_ = 0;
  int ranks_ = 1;
  MPI_Op not_commutative_ = MPI_OP_NULL;
  std::vector<double> in_;
  std::vector<double> out_;
};

}  // namespace quadrille::test
