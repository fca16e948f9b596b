#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "layout/layout.hpp"
#include "run/plan.hpp"
#include "schedule/data.hpp"

namespace quadrille::engine {

// Where nobody says how much memory an exchange in place may take: a hundredth of the data, but no less than this.
inline constexpr std::int64_t least_budget = 64 << 10;
std::int64_t default_budget(std::int64_t data_bytes);
// With this much any data can be swapped, if slowly.
inline constexpr std::int64_t least_to_swap = 256;

// How a rank that swaps data in place stays within a budget: it keeps what comes from `lanes` partners at a time, and
// has `window` chunks under way with each. Partners may have different lanes and windows, but not different chunks.
struct Cut {
  std::int64_t chunk = 0;  // bytes; 0: the budget is too small for anything
  std::int32_t window = 1;
  Rank lanes = 1;
  std::int64_t bytes = 0;  // all that it takes

  // Bytes of the chunks it keeps, where none needs a rest.
  std::int64_t ring() const { return std::int64_t{lanes} * window * chunk; }

  struct Wanted {
    Rank ranks = 2;
    Rank lanes = std::numeric_limits<Rank>::max();  // no more
    bool staged = false;                            // messages must be packed
    bool staged_anywhere = false;      // perhaps only on another rank, which must have chunks of the same size
    bool rest = false;                 // a lane needs room for a chunk more than are under way
    std::int64_t longest = 1LL << 30;  // no chunk is longer
  };
  static Cut of(std::int64_t budget, const Wanted& wanted);
};

// The ranks tell each other how long their chunks are, and each pair takes the shorter. Every rank throws Error where
// one of them has none, or wants what can't be. `chunks` gets one for each rank.
class AgreeOnChunks final : public Plan {
 public:
  // In place of a chunk: the rank wants to send other counts than it receives, or its memory can't be had.
  static constexpr std::int64_t unequal = -1;
  static constexpr std::int64_t exhausted = -2;

  // The program is that of an allgather of 8 bytes.
  AgreeOnChunks(std::shared_ptr<const Program> allgather, std::int64_t own, std::vector<std::int64_t>& chunks);
  bool next(Phase& phase) override;

 private:
  std::shared_ptr<const Program> allgather_;
  std::int64_t own_;
  std::vector<std::int64_t>& chunks_;
  Layout bytes_ = Layout::basic(1);
  bool told_ = false;
};

}  // namespace quadrille::engine
