#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/node_transport.hpp"
#include "shared_memory/lanes.hpp"
#include "shared_memory/segment.hpp"
#include "topology/topology.hpp"

namespace quadrille::engine {

// The memory that the ranks of a node share on one communicator. It is made in steps, between which all ranks exchange
// their words: either every node gets it, or none does.
class NodeMemory {
 public:
  // What a rank tells the others. Plain bytes.
  struct Word {
    shared::Segment::Address address;
    std::array<char, 112> trouble = {};  // empty: there is none
  };

  // Ranks that sleep on counters are woken where nodes are oversubscribed.
  NodeMemory(const Topology& topology, Rank rank, std::int64_t slot_bytes, bool oversubscribed);

  // First the leader of each node makes the segment; then the others open it, given what all have said; and then it is
  // there, unless one has trouble: returns that rank, and the memory is gone.
  Word create();
  Word open(std::span<const Word> words);
  std::optional<Rank> settle(std::span<const Word> words);

  NodeGround ground() { return {lanes_ ? &*lanes_ : nullptr, seats_}; }
  // Bytes that each rank has for its slots; 0: there is no such memory.
  std::int64_t slot_bytes() const { return lanes_ ? lanes_->slot_bytes() : 0; }
  shared::Lanes* lanes() { return lanes_ ? &*lanes_ : nullptr; }

 private:
  template <class Work>
  void attempt(const Work& work);

  Group node_;
  Rank rank_;
  std::int64_t slot_bytes_;
  bool oversubscribed_;
  std::vector<std::int32_t> seats_;  // by rank: its number on its node
  Word word_;
  shared::Segment segment_;
  std::optional<shared::Lanes> lanes_;
};

}  // namespace quadrille::engine
