#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/index.hpp"
#include "verify/execution.hpp"

namespace quadrille::verify {

// An operation of a rank in words.
std::string describe(const Unrolled& ranks, Rank rank, std::int32_t instance);

// The happens-before relation across ranks: local dependencies, a send before the end of its receive, an update of a
// counter before the end of a wait for it, a deposit before the end of its collect, and for each rank of a collective
// of the MPI's own before its end. The execution must outlive it.
class HappensBefore {
 public:
  // The instances of all ranks, numbered.
  using Id = std::int32_t;
  // An update of a counter.
  struct Setting {
    std::int64_t value;
    Id by;
  };

  explicit HappensBefore(const Execution& execution);

  // Counters with two writers, or that can decrease, and collects without a deposit of their own; empty if none.
  const std::string& fault() const { return fault_; }

  Id size() const { return base_.back(); }
  Rank ranks() const { return static_cast<Rank>(execution_.ranks.size()); }
  const Unrolled& rank(Rank number) const { return execution_.ranks[static_cast<std::size_t>(number)]; }
  Id global(Rank rank, std::int32_t instance) const { return base_[static_cast<std::size_t>(rank)] + instance; }
  Rank rank_of(Id id) const { return rank_[static_cast<std::size_t>(id)]; }
  std::int32_t local(Id id) const { return id - base_[static_cast<std::size_t>(rank_of(id))]; }
  const Operation& operation(Id id) const { return rank(rank_of(id)).operation(local(id)); }
  const Event& event(Id id) const {
    return execution_.events[static_cast<std::size_t>(rank_of(id))][static_cast<std::size_t>(local(id))];
  }
  std::int64_t posted(Id id) const { return event(id).posted; }
  std::string text(Id id) const { return describe(rank(rank_of(id)), rank_of(id), local(id)); }

  // All operations, by when they were posted.
  std::vector<Id> in_order_of_events() const;

  // Calls visit(id, posted_only) for what is known to be complete (or, posted_only, posted) before this is posted by
  // its rank's own dependencies; false from visit stops.
  template <class Visit>
  void for_each_predecessor(Id id, Visit&& visit) const {
    const Rank of = rank_of(id);
    rank(of).for_each_predecessor(
        local(id), [&](std::int32_t instance, bool posted_only) { return visit(global(of, instance), posted_only); });
  }

  // The operations on other ranks whose posting the completion of this one waits for.
  template <class Visit>
  void for_each_remote_cause(Id id, Visit&& visit) const {
    if (const Id cause = remote_cause_[static_cast<std::size_t>(id)]; cause >= 0) visit(cause);
    if (operation(id).kind != Kind::offload) return;
    const auto found = together_.find(id);
    if (found == together_.end()) return;
    for (const auto& [rank, instance] : found->second->instances) visit(global(rank, instance));
  }

  // The operation that collects a deposit; -1 if none does.
  Id collect_of(Id deposit) const {
    const auto found = collect_of_.find(deposit);
    return found == collect_of_.end() ? -1 : found->second;
  }
  // Of each box its deposits, by their values.
  std::vector<std::vector<Setting>> deposits() const;

 private:
  std::int64_t value_of(Id id) const;
  void gather_counters();
  void check_setting(const Setting& before, Id id);
  void match_deposit(Id deposit, Id collect);
  Id setting_for(Id wait) const;

  const Execution& execution_;
  std::vector<Id> base_ = {0};
  std::vector<Rank> rank_;        // of each
  std::vector<Id> remote_cause_;  // of each: a message or a counter's update; -1: none
  std::unordered_map<Id, const Together*> together_;
  Index<3> counters_;                           // board, rank, counter
  std::vector<std::vector<Setting>> settings_;  // of each
  std::unordered_map<Id, Id> collect_of_;       // by deposit
  std::string fault_;
};

}  // namespace quadrille::verify
