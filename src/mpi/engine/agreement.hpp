#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "algorithms/catalogue.hpp"
#include "layout/layout.hpp"
#include "run/plan.hpp"
#include "schedule/schedule.hpp"
#include "select/case.hpp"

namespace quadrille::engine {

// Checked mode: before a collective starts, all ranks compare how they called it.

// How the ranks called: as the lowest one did, and the first way that differs from it.
struct Opinion {
  // Those who call alike.
  struct Camp {
    Case asked;
    Variant variant;
    std::uint64_t shares = 0;  // a number made of the counts of all ranks, where they differ
    Rank first = 0;            // its lowest rank
    Rank ranks = 0;            // how many

    bool agrees_with(const Camp& camp) const {
      // Blocking or not is no mistake here: the messages are the same.
      Case theirs = camp.asked;
      theirs.form = asked.form;
      return asked == theirs && variant == camp.variant && shares == camp.shares;
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

// An allreduce of opinions, and beside it a signal from each rank to the next that it has arrived.
Schedule agreement_schedule(Rank rank, Rank ranks);
inline constexpr std::int32_t agreement_channels = 2;
inline constexpr std::int32_t arrival_channel = 1;

// Compares this rank's call with those of the others. All ranks throw Error where they differ, or none.
class CompareCalls final : public Plan {
 public:
  // The program is that of the agreement's schedule; `number` is the collective's on its communicator.
  CompareCalls(std::shared_ptr<const Program> agreement, const Opinion::Camp& own, std::int64_t number);
  bool next(Phase& phase) override;

 private:
  std::shared_ptr<const Program> agreement_;
  Opinion mine_;
  Opinion all_;
  std::int64_t number_;
  bool exchanged_ = false;
};

}  // namespace quadrille::engine
