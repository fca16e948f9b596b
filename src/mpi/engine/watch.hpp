#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "run/runner.hpp"

namespace quadrille::engine {

// A run that waits for counters in shared memory or in a window, of which no message tells it.
class Watched {
 public:
  // Looks at its counters. Returns whether anything happened.
  virtual bool look() = 0;
  // Whether it waits for what MPI has to bring about: MPI must be asked at every look.
  virtual bool needs_mpi() const = 0;
  // The counter it waits for, if that is all it waits for.
  virtual std::optional<Runner::Awaited> awaits_one() const = 0;
  // Sleeps until that counter is set, but not for longer than so long.
  virtual void sleep(const Runner::Awaited& awaited, std::chrono::nanoseconds most) const = 0;

 protected:
  ~Watched() = default;
};

// All of them.
class Watch {
 public:
  void add(Watched& one) {
    watched_.push_back(&one);
    needing_mpi_ += one.needs_mpi() ? 1 : 0;
  }
  void remove(Watched& one) {
    if (std::erase(watched_, &one) > 0) needing_mpi_ -= one.needs_mpi() ? 1 : 0;
  }
  bool empty() const { return watched_.empty(); }
  // Whether there are some, and none of them needs MPI.
  bool without_mpi() const { return !watched_.empty() && needing_mpi_ == 0; }
  // The one there is, if there is but one.
  Watched* only() const { return watched_.size() == 1 ? watched_.front() : nullptr; }
  // Returns whether anything happened.
  bool look() {
    bool happened = false;
    // Whoever ends, or begins, changes the list.
    for (std::size_t i = 0; i < watched_.size();) {
      Watched* const one = watched_[i];
      happened |= one->look();
      if (i < watched_.size() && watched_[i] == one) ++i;
    }
    return happened;
  }

 private:
  std::vector<Watched*> watched_;
  int needing_mpi_ = 0;
};

}  // namespace quadrille::engine
