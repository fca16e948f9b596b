#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace quadrille {

// How many runs of a rank have used each staging block: of its own, as the target, and of a peer's, as the source. A
// block has one source, so both ends count alike without telling each other.
class StagingRuns {
 public:
  // A run, or several in a row. Each sets one notice of a block that it uses.
  void add(const Schedule& schedule) {
    if (schedule.staging.empty()) return;
    runs_.resize(2 * schedule.staging.size());
    for (const Operation& operation : schedule.operations) {
      if (operation.kind != Kind::notify || !schedule.tells_of_staging(operation.counter)) continue;
      const std::int32_t number = operation.counter - schedule.notices;
      ++runs_[index(number / 2, is_filled(number))];
    }
  }

  // What the values of a notice are relative to, where this rank sets it at a peer or awaits it.
  std::int64_t of_notice(const Schedule& schedule, std::int32_t notice, bool sets) const {
    const std::int32_t number = notice - schedule.notices;
    return of(number / 2, is_filled(number) == sets);
  }

  // Where the place of the next run begins in a block, of this rank's own or of a peer's.
  std::int64_t place(const Schedule& schedule, std::int32_t block, bool of_peer) const {
    return of(block, of_peer) % staging_places * schedule.staging[static_cast<std::size_t>(block)];
  }

 private:
  static bool is_filled(std::int32_t number) { return number % 2 == 0; }
  static std::size_t index(std::int32_t block, bool of_peer) {
    return 2 * static_cast<std::size_t>(block) + (of_peer ? 1 : 0);
  }
  std::int64_t of(std::int32_t block, bool of_peer) const {
    const std::size_t at = index(block, of_peer);
    return at < runs_.size() ? runs_[at] : 0;
  }

  std::vector<std::int64_t> runs_;  // by block and end
};

}  // namespace quadrille
