#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cost/shared_programs.hpp"
#include "cost/simulated_rank.hpp"
#include "cost/simulation.hpp"

namespace quadrille::cost {

// All ranks, the cores and wires they share, and the events to come.
class World {
 public:
  // What all ranks do.
  struct Work {
    Rank ranks = 1;
    std::int64_t element_bytes = 1;
    std::function<Schedule(Rank)> build;
    std::function<std::int64_t(Rank, Buffer, std::int32_t block)> units;  // of a caller's block
  };
  World(Work work, const Topology& topology, const Model& model);

  Simulated run();

  std::int64_t units(Rank rank, Buffer buffer, std::int32_t block) const { return work_.units(rank, buffer, block); }
  std::int64_t element_bytes() const { return work_.element_bytes; }
  const Model& model() const { return model_; }
  SimulatedRank& at(Rank rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  Rank peer(Rank rank, Rank number) const { return programs_.peer(rank, number); }
  const Link& link(Rank a, Rank b) const;

  void post_send(Rank from, Rank to, std::int32_t channel, Token token, std::int64_t bytes, double time);
  void post_receive(Rank from, Rank to, std::int32_t channel, Token token, double time);
  // The one with this number, counted by each of its ranks.
  void post_offload(Rank rank, Token token, std::size_t number, std::int64_t bytes, double time);
  // The rank has something to do from then on; or it sleeps and is woken.
  void wake(double time, Rank rank) {
    if (at(rank).expect_turn(time)) push({time, 0, Event::What::turn, rank});
  }
  void wake_sleeper(double time, Rank rank) {
    if (at(rank).expect_turn(time)) push({time, 0, Event::What::woken, rank});
  }

 private:
  // Where one message goes.
  struct Message {
    Rank from = 0;
    Rank to = 0;
    Token send;
    Token receive;
    std::int64_t bytes = 0;
    double sent = -1;      // when it was posted; -1: it was not
    double received = -1;  // likewise
    double arrived = -1;
    std::int32_t next = -1;  // the next in its stream, or of those that are free
    std::int32_t wire = 0;   // that it comes to next, from the sender's on
    double through = 0;      // when it has passed those before
  };
  struct Event {
    enum class What : std::uint8_t { turn, woken, launch, arrival };
    double time;
    std::int64_t number;  // those of the same time come in the order they were made
    What what;
    std::int32_t of;  // a rank, or a message

    friend bool operator<(const Event& a, const Event& b) {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };
  struct Core {
    double free = 0;
    Rank last = -1;
  };
  // Both directions of a node's link, or of a rack's.
  struct Wires {
    double out = 0;
    double in = 0;
  };
  // Messages of which one end has been posted, from a rank to another.
  struct StreamKey {
    Rank from = 0;
    Rank to = 0;
    std::int32_t channel = 0;

    friend bool operator==(const StreamKey&, const StreamKey&) = default;
  };
  struct StreamHash {
    std::size_t operator()(const StreamKey& key) const {
      const auto part = [](std::int32_t value) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(value));
      };
      const std::uint64_t mixed =
          (part(key.from) << 32U ^ part(key.to) ^ part(key.channel) << 56U) * 0x9E3779B97F4A7C15ULL;
      return static_cast<std::size_t>(mixed ^ mixed >> 32U);
    }
  };
  struct Stream {
    bool sends = false;
    std::int32_t first = -1;
    std::int32_t last = -1;
  };

  // A collective of the MPI's own.
  struct Offloaded {
    std::vector<std::pair<Rank, Token>> posted;
    double latest = 0;
  };

  void push(Event event) {
    event.number = numbers_++;
    events_.push(event);
  }
  std::int32_t node_of(Rank rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  std::int32_t rack_of(Rank rank) const { return racks_[static_cast<std::size_t>(rank)]; }
  Message& message(std::int32_t index) { return messages_[static_cast<std::size_t>(index)]; }
  std::int32_t matched(bool send, Rank from, Rank to, std::int32_t channel);
  std::int32_t new_message(Rank from, Rank to);
  std::size_t pool_of(Rank rank) const { return model_.one_machine ? 0 : static_cast<std::size_t>(node_of(rank)); }
  void turn(double time, Rank rank, bool woken);
  // Until a rank sees a message: others that wait for one take their turns first.
  double look(Rank rank) const;
  void awaits_message(Rank rank, int more);
  double* wire_of(const Message& one);
  double exchange(const Message& one, double time) const;
  void launch(double time, std::int32_t index);
  void arrive(double time, std::int32_t index);
  void receive(std::int32_t index);

  Work work_;
  const Model& model_;
  SharedPrograms programs_;
  std::vector<std::int32_t> nodes_;  // by rank
  std::vector<std::int32_t> racks_;
  std::vector<std::unique_ptr<SimulatedRank>> ranks_;
  std::vector<std::vector<Core>> cores_;  // by node; none: one for each rank
  bool oversubscribed_ = false;
  std::vector<std::int32_t> waiting_;           // ranks that wait for messages, by the cores they share
  std::vector<std::int32_t> awaited_messages_;  // by rank
  std::vector<Wires> node_wires_;
  std::vector<Wires> rack_wires_;
  std::map<std::pair<std::int32_t, std::int32_t>, double> under_way_;  // until when, from a node to another
  std::vector<Message> messages_;                                      // places are used again
  std::int32_t free_message_ = -1;                                     // the first of them
  std::int64_t sent_messages_ = 0;                                     // in all
  std::unordered_map<StreamKey, Stream, StreamHash> streams_;
  std::vector<Offloaded> offloaded_;
  std::priority_queue<Event> events_;
  std::int64_t numbers_ = 0;
};

}  // namespace quadrille::cost
