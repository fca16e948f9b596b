#include "engine/node_memory.hpp"

#include <exception>

namespace quadrille::engine {

NodeMemory::NodeMemory(const Topology& topology, Rank rank, std::int64_t slot_bytes, bool oversubscribed)
    : node_(topology.domain(topology.levels() - 1, rank)),
      rank_(rank),
      slot_bytes_(slot_bytes),
      oversubscribed_(oversubscribed),
      seats_(node_) {}

template <class Work>
void NodeMemory::attempt(const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    trouble_ = error.what();
  }
}

shared::Segment::Address NodeMemory::create() {
  attempt([&] {
    if (node_[0] == rank_) segment_ = shared::Segment::create(shared::Lanes::bytes(node_.size(), slot_bytes_));
  });
  return segment_.address();
}

void NodeMemory::open(const shared::Segment::Address& of_first) {
  if (node_[0] == rank_) return;
  attempt([&] { segment_ = shared::Segment::open(of_first, shared::Lanes::bytes(node_.size(), slot_bytes_)); });
}

void NodeMemory::settle(bool all_have_it) {
  segment_.close_door();
  if (!all_have_it) {
    segment_ = {};
    return;
  }
  lanes_.emplace(segment_.memory(), seats_[rank_], node_.size(), slot_bytes_,
                 oversubscribed_ ? shared::Lanes::Waits::asleep : shared::Lanes::Waits::awake);
}

}  // namespace quadrille::engine
