#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "replay/simulated_rank.hpp"
#include "replay/world.hpp"
#include "schedule/index.hpp"

namespace quadrille::replay {

// Communication in flight between two ranks. Messages match in posting order. A put arrives at any time before the
// flush after it completes, and a notification may overtake it; a get reads at any time before it completes.
struct Message {
  Token token;
  std::vector<Placed> pieces;
  bool buffered = false;
  std::vector<std::byte> packed;  // of a buffered send
  std::int32_t next = -1;         // the next in its stream

  void pack() {
    const std::int64_t bytes = packed_bytes(pieces);
    packed.resize(static_cast<std::size_t>(bytes));
    quadrille::pack(pieces, 0, bytes, packed.data());
  }
};
// Unmatched messages: either sends or receives.
struct Stream {
  bool sends = false;
  std::int32_t first = -1;
  std::int32_t last = -1;
};
// What waits on a channel that is received from anyone: sends, by sender, or receives.
struct Open {
  std::vector<Rank> senders;
  std::deque<std::int32_t> receives;
};
struct Remote {
  enum class What : std::uint8_t { put, flush, get, notify, deposit } what;
  Token token;
  Placed source{};
  Placed target{};
  std::int32_t counter = 0;  // notice or box
  std::int64_t value = 0;
  std::vector<std::byte> data = {};  // of a deposit
};

// A collective of the MPI's own, as one of its ranks has posted it.
struct Offloaded {
  Token token;
  std::int32_t phase;
  std::vector<Placed> data;
};

// All ranks, and what is between them.
class World {
 public:
  World(std::vector<std::unique_ptr<Plan>> plans, const Options& options) : options_(options), random_(options.seed) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      ranks_.push_back(std::make_unique<SimulatedRank>(*this, static_cast<Rank>(i), std::move(plans[i])));
    }
    offloading_.resize(ranks_.size());
    received_.resize(ranks_.size());
  }

  Outcome run();

  SimulatedRank& at(Rank rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  Posting posting() { return {options_.window, options_.random_posting ? &random_ : nullptr, nullptr}; }
  bool share_memory(Rank one, Rank other) const { return !options_.share_memory || options_.share_memory(one, other); }
  bool choose_buffered() {
    return options_.sends == Sends::buffered || (options_.sends == Sends::mixed && random_() % 2 == 0);
  }
  // Messages are reused, with their memory.
  std::int32_t take_message();
  Message& message(std::int32_t index) { return messages_[static_cast<std::size_t>(index)]; }
  // Messages of different phases don't match, as those of different collectives.
  void post(bool send, Rank from, Rank to, std::int32_t channel, std::int32_t phase, std::int32_t message);
  // The same on a channel that is received from anyone, in whatever phase either rank is.
  void post_open(bool send, Rank from, Rank to, std::int32_t channel, std::int32_t message);
  void rank_begun() { ++begun_; }
  void rank_through() { ++through_; }
  // Now, in the call that posts it, or later.
  void complete_soon(Rank rank, Token token);
  void offload(Rank rank, Offloaded what) {
    offloading_[static_cast<std::size_t>(rank)].push_back(std::move(what));
    ++offloaded_;
  }
  void remote(Rank from, Rank to, Remote what) { remotes_[{from, to}].push_back(std::move(what)); }

 private:
  struct Pair {
    Rank from;
    Rank to;
    std::int32_t send;
    std::int32_t receive;
  };
  bool happens_at_once() { return random_() % 4 == 0; }
  void match(const Pair& pair);
  void deliver(const Pair& pair);
  // Each performs one random step, if there is any.
  bool deliver_one();
  bool complete_one();
  bool apply_one();
  bool offload_one();
  void perform_together(const std::vector<Rank>& group);
  bool apply(Rank from, Rank to, std::deque<Remote>& queue, std::size_t index);

  bool step(bool thorough);
  std::string waiting() const;

  Options options_;
  std::mt19937_64 random_;
  std::vector<Rank> order_;
  std::vector<std::unique_ptr<SimulatedRank>> ranks_;
  std::size_t begun_ = 0;    // ranks
  std::size_t through_ = 0;  // likewise
  std::vector<Message> messages_;
  std::vector<std::int32_t> unused_messages_;
  Index<4> stream_numbers_;  // by sender, receiver, channel and phase
  std::vector<Stream> streams_;
  Index<2> open_numbers_;  // by receiver and channel
  std::vector<Open> opens_;
  std::vector<Pair> matched_;
  std::vector<std::pair<Rank, Token>> completions_;  // of buffered sends
  std::map<std::pair<Rank, Rank>, std::deque<Remote>> remotes_;
  std::vector<std::deque<Offloaded>> offloading_;  // by rank
  std::int64_t offloaded_ = 0;                     // in all of them
  std::vector<std::int64_t> received_;             // likewise, bytes
};

}  // namespace quadrille::replay
