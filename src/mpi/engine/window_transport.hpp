#pragma once

#include <cstdint>
#include <vector>

#include "engine/window.hpp"
#include "run/memory.hpp"
#include "schedule/schedule.hpp"

namespace quadrille::engine {

// What one run does through a window: runs of a window follow one another on each rank. Not thread-safe.
class WindowTransport {
 public:
  // Null: there is none.
  void use(Window* window) { window_ = window; }
  Window* window() const { return window_; }
  // Where the boxes of a schedule begin, which must outlive this.
  void lay_out(const Schedule& schedule);
  // Runs have ascending numbers, the same on every rank.
  void start(std::int64_t run);

  // A piece of the output of another rank, which lies in its window where this rank's lies in its own.
  std::int64_t place(const Binding& binding, const Piece& piece) const;

  void put(Rank to, const Placed& source, std::int64_t at) const;
  void put_staging(Rank to, const Placed& source, const Piece& target) const;
  // A piece of this rank's own staging.
  Placed staged(const Piece& piece) const;
  void flush(Rank to) const;
  // The requests that it takes; valid until the next.
  const std::vector<MPI_Request>& get(Rank from, std::int64_t at, const Placed& target);
  void notify(Rank to, std::int32_t notice, std::int64_t value) const {
    window_->notify(to, notice, counted(notice, true, value));
  }
  bool noticed(std::int32_t notice, std::int64_t value) const {
    const std::int64_t wanted = counted(notice, false, value);
    return wanted <= 0 || window_->noticed(notice, wanted);
  }
  void deposit(Rank to, const Placed& source, std::int32_t box) const;
  bool collect(std::int32_t box, const Placed& target) const;

 private:
  // What a notice has when it is set to a value, or awaited; up to 0: from the start.
  std::int64_t counted(std::int32_t notice, bool sets, std::int64_t value) const;
  // Where a piece lies in all staging of its owner.
  std::int64_t place_in_staging(const Piece& piece, bool of_peer) const;
  // Never 0.
  std::uint32_t stamp() const { return static_cast<std::uint32_t>(run_) | 0x80000000U; }

  Window* window_ = nullptr;
  std::int64_t run_ = 0;
  const Schedule* schedule_ = nullptr;
  bool puts_ = false;                    // into outputs
  std::vector<std::int64_t> box_words_;  // first of each box
  StagingRuns staging_runs_;             // before this one
  std::vector<MPI_Request> requests_;
};

}  // namespace quadrille::engine
