#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/builder.hpp"

namespace quadrille {

class Topology;

// The units of each rank's share if they differ (reduce_scatter's counts): the same on every rank.
class Shares {
 public:
  explicit Shares(std::span<const std::int64_t> counts) : ends_(counts.begin(), counts.end()) {
    std::int64_t end = 0;
    for (std::int64_t& one : ends_) one = end += one;
  }

  Range of(Rank rank) const { return {begin(rank), ends_[static_cast<std::size_t>(rank)]}; }
  std::int64_t total() const { return ends_.empty() ? 0 : ends_.back(); }
  std::int64_t most() const;
  // Whether the counts equal count_of(rank) for every rank.
  template <class CountOf>
  bool are(CountOf&& count_of) const {
    std::int64_t end = 0;
    for (Rank rank = 0; rank < static_cast<Rank>(ends_.size()); ++rank) {
      if ((end += count_of(rank)) != ends_[static_cast<std::size_t>(rank)]) return false;
    }
    return true;
  }
  // A hash of the counts.
  std::uint64_t mark() const {
    return mark_of(static_cast<Rank>(ends_.size()), [&](Rank rank) { return of(rank).end - of(rank).begin; });
  }
  // The same of those that are count_of(rank).
  template <class CountOf>
  static std::uint64_t mark_of(Rank ranks, CountOf&& count_of) {
    std::uint64_t mark = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
      mark = (mark ^ static_cast<std::uint64_t>(count_of(rank))) * 0x9e3779b97f4a7c15U;
    }
    return mark;
  }

  friend bool operator==(const Shares&, const Shares&) = default;

 private:
  std::int64_t begin(Rank rank) const { return rank == 0 ? 0 : ends_[static_cast<std::size_t>(rank) - 1]; }

  std::vector<std::int64_t> ends_;
};

// The parameters of an algorithm: everything its schedule may depend on. Ranks are those of the group it is built on.
struct Problem {
  Rank rank = 0;
  Rank ranks = 1;
  Rank root = 0;
  std::int64_t count = 0;          // units of one rank's data, or of its block; unknown for v and w collectives
  const Shares* shares = nullptr;  // instead of the count, if blocks have different sizes known to all ranks
  bool separate = false;           // v and w collectives: the blocks are not contiguous
  bool in_place = false;           // the input is the output, on this rank
  bool commutative = true;         // of a reduction's operation
  bool fixed_order = false;        // of a reduction: in rank order, left to right
  std::int64_t segment = 0;        // units of a segment, for pipelined algorithms; 0: no segments
  std::int32_t window = 4;         // segments in flight
  std::int32_t width = 0;          // fan-out of a tree, radix, messages of a batch; 0: the algorithm's default
  Region input{.buffer = Buffer::input};
  Region output{.buffer = Buffer::output};  // of length 0 if the caller has none
  const Topology* topology = nullptr;       // of all ranks; null: treated as one node
  std::int64_t room = 0;                    // units of slots per rank in the node's shared memory; 0: none
  std::int64_t unit_bytes = 8;              // of one unit, if they are elements
  bool crowded = false;                     // ranks share cores: each that waits for another waits for its turn
  bool offloads = false;                    // the MPI's own collectives among leaders of nodes can take part
  bool exposed = false;                     // the output of every rank lies in its window, where others can access it
  bool pulls = false;        // through windows: who needs data gets it, since no rank may wait in a flush
  std::int64_t box = 0;      // units of a box in each window, for short data
  std::int64_t staging = 0;  // units of a place of a staging block there, for data that comes before its target calls

  // The position of a rank's block if blocks are contiguous, and the total.
  Range share(Rank peer) const { return shares ? shares->of(peer) : Range{peer * count, (peer + 1) * count}; }
  std::int64_t total() const { return shares ? shares->total() : ranks * count; }
  std::int64_t largest_share() const { return shares ? shares->most() : count; }

  // The block for, or from, one peer.
  Region input_block(Rank peer) const { return block(input, peer); }
  Region output_block(Rank peer) const { return block(output, peer); }
  // The blocks of `how_many` peers from `first` on, modulo ranks, in as few regions as possible.
  std::vector<Region> input_blocks(Rank first, Rank how_many) const { return blocks(input, first, how_many); }
  std::vector<Region> output_blocks(Rank first, Rank how_many) const { return blocks(output, first, how_many); }

  bool has_output() const { return output.length != 0; }

 private:
  Region block(const Region& side, Rank peer) const;
  std::vector<Region> blocks(const Region& side, Rank first, Rank how_many) const;
};

}  // namespace quadrille
