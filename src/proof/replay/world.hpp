#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "run/plan.hpp"
#include "run/runner.hpp"

namespace quadrille::replay {

// How messages behave. MPI leaves it open whether a send waits for its receive; mixed decides for each at random.
enum class Sends : std::uint8_t { buffered, synchronous, mixed };

struct Options {
  std::uint64_t seed = 1;
  std::int64_t window = Posting{}.window;  // messages in flight in each direction, for each rank
  Sends sends = Sends::mixed;
  bool random_posting = true;
};

// No rank can go on. Says what each is waiting for.
struct Deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Whether a rank was through before another had begun: what a barrier must prevent.
struct Outcome {
  bool overtaken = false;
};

// Runs all ranks of a collective in this process on real data. The order in which operations are posted, messages
// delivered and ranks advanced is random, by the seed, and ranks may begin and go on late. Throws Deadlock, or
// std::runtime_error where messages don't fit.
Outcome run(std::vector<std::unique_ptr<Plan>> plans, const Options& options);

}  // namespace quadrille::replay
