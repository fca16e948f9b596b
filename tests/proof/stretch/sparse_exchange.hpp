#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "algorithms/collective.hpp"
#include "run/plan.hpp"
#include "verify/subject.hpp"

namespace quadrille::stretch {

// A plan of two phases for ranks that don't know their sources. First every rank sends every other its number of bytes,
// then the bytes, if any: the second schedule depends on the data of the first.
class SparseExchange final : public Plan {
 public:
  // outgoing[peer]: what this rank has for each; borrowed.
  SparseExchange(Rank rank, const std::vector<std::vector<std::byte>>& outgoing);

  bool next(Phase& phase) override;

  const std::vector<std::vector<std::byte>>& incoming() const { return incoming_; }
  const std::vector<Schedule>& schedules() const { return schedules_; }

 private:
  void announce(Phase& phase);
  void exchange(Phase& phase);

  Rank rank_;
  const std::vector<std::vector<std::byte>>& outgoing_;
  std::vector<std::int64_t> sizes_out_;
  std::vector<std::int64_t> sizes_in_;
  std::vector<std::vector<std::byte>> incoming_;
  std::vector<Schedule> schedules_;
};

// Replays the exchange for the given sizes and returns both phases as one subject for the proof; throws if the bytes
// did not arrive.
verify::Subject replayed_sparse_exchange(Rank ranks, const BlockSizes& sizes, std::uint64_t seed);

}  // namespace quadrille::stretch
