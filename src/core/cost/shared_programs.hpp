#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "run/program.hpp"

namespace quadrille::cost {

// Programs of ranks, as far as time depends on them. Ranks whose schedules differ only in the peers that they name, and
// in where their data lies, share one: all ranks of a rotation or of a hypercube, those at one depth of a tree. So
// memory is that of the different schedules, not of all.
class SharedPrograms {
 public:
  // How ranks are related that share a program: the same distances to their peers, or the same bits in which they
  // differ.
  enum class Relation : std::uint8_t { distance, bits };

  SharedPrograms(Rank ranks, std::function<Schedule(Rank)> build);

  // Where peers, and owners of slots, are numbers that `peer` makes ranks of.
  std::shared_ptr<const Program> of(Rank rank);
  Rank peer(Rank rank, Rank number) const {
    if (relation_ == Relation::bits) return rank ^ number;
    const std::int64_t sum = std::int64_t{rank} + number;
    return static_cast<Rank>(sum < ranks_ ? sum : sum - ranks_);
  }

  std::size_t size() const { return size_; }

 private:
  Schedule relative(Schedule schedule) const;

  Rank ranks_;
  std::function<Schedule(Rank)> build_;
  Relation relation_ = Relation::distance;
  std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<const Program>>> known_;  // by hash
  std::size_t size_ = 0;
};

}  // namespace quadrille::cost
