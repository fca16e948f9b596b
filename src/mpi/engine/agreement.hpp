#pragma once

#include <cstdint>
#include <string>

#include "algorithms/algorithm.hpp"
#include "schedule/schedule.hpp"

namespace quadrille::engine {

// Checked mode: before a collective starts, all ranks compare how they called it.

// How the ranks called: as the lowest one did, and the first way that differs from it.
struct Opinion {
  // Those who call alike.
  struct Camp {
    std::int32_t algorithm = 0;  // its place in the catalogue
    Rank root = 0;
    std::int32_t width = 0;
    std::int64_t count = 0;
    std::uint64_t shares = 0;  // a number made of the counts of all ranks, where they differ
    std::int64_t memory = 0;   // that it may take
    bool commutative = true;
    bool fixed_order = false;
    std::int64_t element_bytes = 0;  // of what is reduced
    std::int32_t operation = -1;     // of a reduction, if it is MPI's own
    Rank first = 0;                  // its lowest rank
    Rank ranks = 0;                  // how many

    bool agrees_with(const Camp& camp) const {
      return algorithm == camp.algorithm && root == camp.root && width == camp.width && count == camp.count &&
             shares == camp.shares && memory == camp.memory && commutative == camp.commutative &&
             fixed_order == camp.fixed_order && element_bytes == camp.element_bytes && operation == camp.operation;
    }
  };
  Camp lowest;
  Camp other;        // of no rank, where all agree
  Rank neither = 0;  // ranks that call in yet another way

  bool unanimous() const { return other.ranks == 0; }
};

// right = left and right together; for ReduceFunction.
void merge_opinions(const void* left, void* right, std::int64_t count);

// Names the odd ones out.
std::string disagreement(const Opinion& opinion, std::int64_t sequence);

// An allreduce of opinions, and beside it a word from each rank to the next that it has arrived.
Schedule agreement_schedule(Rank rank, Rank ranks);
inline constexpr std::int32_t agreement_channels = 2;
inline constexpr std::int32_t arrival_channel = 1;

}  // namespace quadrille::engine
