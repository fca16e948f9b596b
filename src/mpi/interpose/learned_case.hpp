#pragma once

#include <cstdint>
#include <quadrille/collective.hpp>
#include <string>
#include <vector>

namespace quadrille::interpose {

// What was learned of calls of one collective and range of sizes on one communicator, by timing candidates.
struct LearnedCase {
  struct Tried {
    std::string name;
    double seconds = 0;
  };
  std::string communicator;
  int ranks = 0;
  int nodes = 0;
  Collective collective = Collective::barrier;
  std::int64_t from = 0;  // bytes
  std::int64_t to = 0;
  std::int64_t calls = 0;  // of one rank
  std::int64_t replaced = 0;
  std::string verdict;        // "native" or a variant's name
  double seconds = 0;         // of a call by the verdict
  double native_seconds = 0;  // of a call by the MPI's own
  std::vector<Tried> tried;
  double saved_seconds = 0;
  std::string start;  // "price" or "remembered"
};

}  // namespace quadrille::interpose
