#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "cost/pairs.hpp"

namespace quadrille::bench {

// Two ranks of which one measures what messages to the other take: it calls measure, the other answer.
class Meeting {
 public:
  explicit Meeting(MPI_Comm comm) : comm_(comm) {}

  cost::Between measure(int peer);
  void answer(int peer);

 private:
  // Seconds until the peer has said that so many bytes have arrived.
  double timed(int peer, std::int64_t bytes);

  MPI_Comm comm_;
  std::vector<char> data_;
};

}  // namespace quadrille::bench
