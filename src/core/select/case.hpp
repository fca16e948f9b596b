#pragma once

#include <cstdint>

#include "algorithms/collective.hpp"

namespace quadrille {

// How a collective is called; persistent calls count as non-blocking ones.
enum class Form : std::uint8_t { blocking, non_blocking };

// What is asked for, by what every rank of the communicator knows alike: no handle, no address, nothing that only the
// root knows, and of alltoallv, alltoallw, gatherv and scatterv no size, since no rank has the counts of the others.
// Plain bytes, to be compared between ranks.
struct Case {
  Collective collective = Collective::barrier;
  Form form = Form::blocking;
  bool in_place = false;        // of all-to-alls: MPI_IN_PLACE on every rank; elsewhere each rank has its own way
  bool commutative = true;      // of a reduction's operation
  bool fixed_order = false;     // of a reduction: folded from rank 0 up, left to right
  std::int32_t operation = -1;  // of a reduction: a number for each of MPI's predefined operations; -1: the program's
  Rank ranks = 1;
  std::int32_t nodes = 1;
  Rank ranks_per_node = 1;  // the most on any node
  Rank root = 0;
  std::int64_t count = 0;        // units of a rank's data or block (see unit_of); of allgatherv and reduce_scatter, all
  std::int64_t largest = 0;      // units of the largest block
  std::int64_t unit_bytes = 1;   // of an element of a reduction
  std::int64_t unit_extent = 1;  // what it takes in memory
  std::int64_t memory = 0;       // bytes a rank that the call may take; 0: no limit, or each rank has its own

  // Bytes of `count`.
  std::int64_t count_bytes() const;
  // Bytes of a rank's own data, as benchmarks and tuning tables count them: what it passes in or, where only the root
  // does, receives. Of blocks of different sizes the mean; of reduce_scatter all.
  std::int64_t bytes() const;

  friend bool operator==(const Case&, const Case&) = default;
};

// Whether every rank knows the size of a call.
bool sizes_are_known(Collective collective);

// A call as one rank passes it, in numbers. Only what MPI says is significant on this rank is looked at.
struct LocalCall {
  struct Side {
    bool significant = false;  // this rank has it
    std::int64_t count = 0;    // elements, of each block where all have the same
    std::int64_t type_bytes = 1;
    std::int64_t type_extent = 1;
    bool counted = false;      // blocks have counts of their own
    std::int64_t total = 0;    // of them: their sum
    std::int64_t largest = 0;  // and the largest
  };

  Collective collective = Collective::barrier;
  Form form = Form::blocking;
  Rank rank = 0;
  Rank root = 0;
  bool in_place = false;  // this rank passes MPI_IN_PLACE, or one buffer twice
  Side input = {};
  Side output = {};
  bool commutative = true;
  bool fixed_order = false;
  std::int32_t operation = -1;
  std::int64_t memory = 0;  // the limit that the call and the communicator set; 0: none

  // Bytes that this rank passes in, or receives where it passes in nothing.
  std::int64_t bytes(Rank ranks) const;
  // Bytes of all blocks of one side.
  static std::int64_t bytes(const Side& side, bool of_all_ranks, Rank ranks);
};

// How many ranks there are, and how they lie on nodes.
struct Placement {
  Rank ranks = 1;
  std::int32_t nodes = 1;
  Rank ranks_per_node = 1;  // the most on any node
};

Case case_of(const LocalCall& call, const Placement& placement);

// A call with so many bytes of a rank's own data (see Case::bytes), as benchmarks make it: sums of doubles, else bytes,
// in blocks of one size.
Case case_of_bytes(Collective collective, std::int64_t bytes, const Placement& placement);

}  // namespace quadrille
