#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/node_transport.hpp"
#include "shared_memory/lanes.hpp"
#include "shared_memory/segment.hpp"
#include "topology/topology.hpp"

namespace quadrille::engine {

// The memory that the ranks of a node share on one communicator. It is made in steps: either every node gets it, or
// none does.
class NodeMemory {
 public:
  // Ranks that sleep on counters are woken where nodes are oversubscribed.
  NodeMemory(const Topology& topology, Rank rank, std::int64_t slot_bytes, bool oversubscribed);

  const Group& node() const { return node_; }
  // First the first rank of each node makes the segment; then the others open it, given its address; and then it is
  // there, unless one has trouble: the memory is gone.
  shared::Segment::Address create();
  void open(const shared::Segment::Address& of_first);
  void settle(bool all_have_it);
  // Of this rank; empty: none.
  const std::string& trouble() const { return trouble_; }

  NodeGround ground() { return {lanes_ ? &*lanes_ : nullptr, &seats_}; }
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
  Seats seats_;
  std::string trouble_;
  shared::Segment segment_;
  std::optional<shared::Lanes> lanes_;
};

}  // namespace quadrille::engine
