#include "engine/node_memory.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>

namespace quadrille::engine {

NodeMemory::NodeMemory(const Topology& topology, Rank rank, std::int64_t slot_bytes, bool oversubscribed)
    : node_(topology.domain(topology.levels() - 1, rank)),
      rank_(rank),
      slot_bytes_(slot_bytes),
      oversubscribed_(oversubscribed) {
  const int nodes = topology.levels() - 1;
  for (const Rank first : topology.first_of_domains(nodes)) {
    const Group node = topology.domain(nodes, first);
    for (Rank seat = 0; seat < node.size(); ++seat) {
      const auto member = static_cast<std::size_t>(node[seat]);
      if (seats_.size() <= member) seats_.resize(member + 1);
      seats_[member] = seat;
    }
  }
}

template <class Work>
void NodeMemory::attempt(const Work& work) {
  try {
    work();
  } catch (const std::system_error& error) {
    const std::string_view text = error.what();
    std::copy_n(text.begin(), std::min(text.size(), word_.trouble.size() - 1), word_.trouble.begin());
  }
}

NodeMemory::Word NodeMemory::create() {
  attempt([&] {
    if (node_[0] == rank_) segment_ = shared::Segment::create(shared::Lanes::bytes(node_.size(), slot_bytes_));
    word_.address = segment_.address();
  });
  return word_;
}

NodeMemory::Word NodeMemory::open(std::span<const Word> words) {
  const Word& leaders = words[static_cast<std::size_t>(node_[0])];
  attempt([&] {
    const bool opens = node_[0] != rank_ && leaders.trouble[0] == 0;
    if (opens) segment_ = shared::Segment::open(leaders.address, shared::Lanes::bytes(node_.size(), slot_bytes_));
  });
  return word_;
}

std::optional<Rank> NodeMemory::settle(std::span<const Word> words) {
  segment_.close_door();
  const auto failed = std::find_if(words.begin(), words.end(), [](const Word& word) { return word.trouble[0] != 0; });
  if (failed != words.end()) {
    segment_ = {};
    return static_cast<Rank>(failed - words.begin());
  }
  lanes_.emplace(segment_.memory(), seats_[static_cast<std::size_t>(rank_)], node_.size(), slot_bytes_,
                 oversubscribed_ ? shared::Lanes::Waits::asleep : shared::Lanes::Waits::awake);
  return std::nullopt;
}

}  // namespace quadrille::engine
