#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "run/memory.hpp"
#include "run/program.hpp"
#include "run/runner.hpp"

namespace quadrille {

// One phase of a collective: a schedule, or a protocol in its place, and the memory it runs on.
struct Phase {
  std::shared_ptr<const Program> program;
  std::function<std::unique_ptr<Machine>(Backend&)> protocol;
  Binding binding;
  const Layout* element = nullptr;  // of scratch, where the schedule reduces
  std::int32_t open_channel = -1;   // of a protocol: received from anyone; -1: none
  std::int64_t part = 0;            // likewise: bytes of a message, at most; more travel in parts; 0: as always
  bool swaps = false;               // data goes to where it came from; the same on every rank

  // What runs it.
  std::unique_ptr<Machine> machine(Backend& backend, const Posting& posting) const {
    return program ? std::make_unique<Runner>(*program, backend, posting) : protocol(backend);
  }
};

// One rank's part in a collective as a sequence of phases. Nearly every collective has one; a protocol whose next
// phase depends on what arrived in the last is a plan of its own.
class Plan {
 public:
  virtual ~Plan() = default;

  // Fills in the next phase; false when the collective is complete. Called again only when the phase before it is
  // complete on this rank, so it may read what has arrived. Every rank must see the same number of phases.
  virtual bool next(Phase& phase) = 0;
};

// Phases that are known from the start: one, for nearly every collective.
class FixedPlan final : public Plan {
 public:
  explicit FixedPlan(std::vector<Phase> phases) : phases_(std::move(phases)) {}
  bool next(Phase& phase) override {
    if (next_ == phases_.size()) return false;
    phase = std::move(phases_[next_++]);
    return true;
  }

 private:
  std::vector<Phase> phases_;
  std::size_t next_ = 0;
};

}  // namespace quadrille
