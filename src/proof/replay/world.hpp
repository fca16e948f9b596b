#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "run/plan.hpp"
#include "run/runner.hpp"

namespace quadrille::replay {

// How sends behave. MPI does not specify whether a send waits for its receive; mixed decides for each at random.
enum class Sends : std::uint8_t { buffered, synchronous, mixed };

struct Options {
  std::uint64_t seed = 1;
  std::int64_t window = Posting{}.window;  // messages in flight in each direction, for each rank
  Sends sends = Sends::mixed;
  bool random_posting = true;
  std::function<bool(Rank, Rank)> share_memory = {};  // of two ranks; none: all do
};

// No rank can make progress. The message lists what each rank waits for.
struct Deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Outcome {
  bool overtaken = false;              // a rank ended before another had begun, which a barrier must prevent
  std::vector<std::int64_t> received;  // bytes, by rank
};

// Runs all ranks of a collective in this process on real data. The order in which operations are posted, messages
// delivered and ranks advanced is random, determined by the seed; ranks may start and continue late. Throws Deadlock,
// or std::runtime_error for mismatched messages and for memory of another node.
Outcome run(std::vector<std::unique_ptr<Plan>> plans, const Options& options);

}  // namespace quadrille::replay
