#pragma once

#include <cstdint>
#include <optional>
#include <quadrille/quadrille.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/buffers.hpp"
#include "bench/exercise.hpp"
#include "measure/bench_options.hpp"

namespace quadrille::bench {

// A way to run a collective: the MPI's own, or an algorithm of ours.
struct Candidate {
  std::string name;
  bool ours = false;
  std::string algorithm = {};  // of ours; empty: the library chooses
  double delay = 0;            // put in on purpose, relative to native's time
  std::optional<std::int64_t> steps = std::nullopt;
  std::optional<double> price = std::nullopt;  // seconds
};

// Those that the options ask for, native first.
std::vector<Candidate> candidates_of(const measure::BenchOptions& options, const Exercise& exercise,
                                     const engine::Context& measured);

// Of each candidate the first that has the same schedules on all ranks, one that was named rather than the library's
// choice; empty if that is itself. Called by all ranks, which tell each other by `control`.
std::vector<std::string> twins_of(const std::vector<Candidate>& candidates, const Exercise& exercise, Buffers& buffers,
                                  std::span<const std::int32_t> roots, engine::Context& measured,
                                  Communicator& control);

}  // namespace quadrille::bench
