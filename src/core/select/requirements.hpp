#pragma once

#include <cstdint>
#include <string>

#include "algorithms/catalogue.hpp"
#include "select/budget.hpp"
#include "select/case.hpp"

namespace quadrille {

class Topology;

// What variants need on one communicator.
class Requirements {
 public:
  Requirements() = default;
  // `part` and `segment` are those of Preferences; of the ground the topology must outlive it.
  struct Ground {
    const Topology* topology = nullptr;
    std::int64_t slot_bytes = 0;  // that each rank has in its node's shared memory; 0: there is none
    bool offloads = false;        // see Problem
    bool crowded = false;         // see Problem
    bool checked = false;         // mistakes of the caller must be noticed
  };
  Requirements(const Ground& ground, std::int64_t part, std::int64_t segment)
      : ground_(ground), part_(part), segment_(segment) {}

  const Topology* topology() const { return ground_.topology; }
  std::int64_t slot_bytes() const { return ground_.slot_bytes; }
  bool crowded() const { return ground_.crowded; }

  // Why it can't run the case, whatever the limit on memory; empty if it can.
  std::string refusal(const Variant& variant, const Case& asked) const;
  bool can_run(const Variant& variant, const Case& asked) const { return refusal(variant, asked).empty(); }
  // The variant as it would run, with the segment that is used.
  Variant completed(Variant variant, const Case& asked) const;
  // The most bytes that it takes on any rank beyond the caller's buffers; 0 where nothing is limited.
  std::int64_t memory(const Variant& completed, const Case& asked) const;
  // Whether it can run the case within the case's limit on memory.
  bool fits(const Variant& variant, const Case& asked) const {
    return can_run(variant, asked) && memory(completed(variant, asked), asked) <= asked.memory;
  }
  // The case as a problem of the root or of any rank, with blocks of one size.
  Problem problem(const Variant& completed, const Case& asked) const;
  // Units of the case that a rank has room for in its node's memory; see Problem.
  std::int64_t room(const Case& asked) const;
  // Whether the MPI's own collectives can take part in the case; see Problem.
  bool offloads(const Case& asked) const;
  // A schedule that uses shared memory may have so many slots.
  static constexpr std::int64_t most_slots = 4;

 private:
  // How blocks of one size are swapped in place.
  Chunking chunking(const Case& asked) const;

  Ground ground_;
  std::int64_t part_ = 0;
  std::int64_t segment_ = 0;
};

}  // namespace quadrille
