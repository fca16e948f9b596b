#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quadrille::interpose {

// What became of a call: run by Quadrille, or passed through to MPI, and why.
enum class Outcome : std::uint8_t {
  replaced,
  not_selected,
  not_in_table,
  not_faster,
  found_not_faster,
  trial,
  unknown_size,
  little_in_place,
  few_calls,
  one_rank,
  inactive,
  intercommunicator,
  other_world,
  too_many_communicators,
  no_communicator,
  threads,
  memory,
  arguments,
  non_blocking,
  persistent,
  neighbourhood
};
constexpr std::size_t outcomes = 21;

// For people and for JSON.
constexpr std::array<std::string_view, outcomes> outcome_names = {"replaced",
                                                                  "not selected",
                                                                  "no rule in the tuning table",
                                                                  "MPI's own is expected to be as fast",
                                                                  "MPI's own was measured to be as fast",
                                                                  "to measure MPI's own",
                                                                  "each rank knows its own size only",
                                                                  "in place, with little data",
                                                                  "the first calls on a communicator",
                                                                  "one rank",
                                                                  "before MPI_Init or after MPI_Finalize",
                                                                  "an intercommunicator",
                                                                  "ranks of another MPI_COMM_WORLD",
                                                                  "too many communicators",
                                                                  "no communicator could be made",
                                                                  "first called by a thread that is not the main one",
                                                                  "the memory limit",
                                                                  "arguments that MPI is to check",
                                                                  "non-blocking",
                                                                  "persistent",
                                                                  "a neighbourhood"};

constexpr std::string_view name(Outcome outcome) {
  return outcome_names[static_cast<std::size_t>(outcome)];
}

}  // namespace quadrille::interpose
