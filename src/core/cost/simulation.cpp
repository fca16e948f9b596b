#include "cost/simulation.hpp"

#include <algorithm>
#include <memory>
#include <queue>
#include <stdexcept>
#include <utility>

#include "run/runner.hpp"
#include "schedule/index.hpp"

namespace quadrille::cost {

namespace {

class World;

// One rank in virtual time. What it does takes a core, and so it does it in turns: from an event until it has nothing
// more to do.
class SimulatedRank final : public Backend {
 public:
  SimulatedRank(World& world, const Schedule& schedule, std::int64_t window)
      : world_(world),
        rank_(schedule.rank),
        program_(Program::over(schedule)),
        runner_(program_, *this, Posting{.window = window}),
        counters_(static_cast<std::size_t>(schedule.counters)) {}

  // Does all that can be done at that time, and returns when it is done.
  double turn(double now);
  bool done() const { return started_ && runner_.done(); }
  double end() const { return clock_; }
  double free_at() const { return clock_; }
  const Schedule& schedule() const { return program_.schedule(); }

  // A message has been sent or received; the work for it is done in the next turn.
  void complete_at(double time, Token token, double work) { completed_.push_back({time, token, work}); }

  // A counter of this rank, as others see it at a time. Where it will have the value later, `later` is when.
  bool reached(std::int32_t counter, std::int64_t value, double time, double& later) const;
  // Has a rank woken when others see that value.
  void watch(Rank watcher, std::int32_t counter, std::int64_t value) {
    const Watcher one{watcher, counter, value};
    if (std::find(watchers_.begin(), watchers_.end(), one) == watchers_.end()) watchers_.push_back(one);
  }
  // Whether a turn at that time is news to it; and it has come.
  bool expect_turn(double time) {
    if (std::find(turns_.begin(), turns_.end(), time) != turns_.end()) return false;
    turns_.push_back(time);
    return true;
  }
  void turn_has_come(double time) { std::erase(turns_, time); }

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override;
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override;
  void copy(Token token, const Piece& source, const Piece& target) override;
  void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) override;
  void publish(Token token, std::int32_t counter, std::int64_t value) override;
  bool reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) override;

 private:
  struct Completed {
    double time;
    Token token;
    double work;
  };
  struct Set {
    double seen;  // by others
    std::int64_t value;
  };
  struct Watcher {
    Rank rank;
    std::int32_t counter;
    std::int64_t value;

    friend bool operator==(const Watcher&, const Watcher&) = default;
  };

  std::int64_t bytes(std::span<const Piece> data) const;
  void raise(std::int32_t counter, std::int64_t value, double seen);

  World& world_;
  Rank rank_;
  Program program_;
  Runner runner_;
  bool started_ = false;
  double clock_ = 0;
  std::vector<Completed> completed_;
  std::vector<std::vector<Set>> counters_;  // in the order they were set
  std::vector<Watcher> watchers_;
  std::vector<double> turns_;  // to come
};

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
  std::int32_t next = -1;  // the next in its stream
  std::int32_t wire = 0;   // that it comes to next, from the sender's on
  double through = 0;      // when it has passed those before
};

class World {
 public:
  World(const Subject& subject, const Topology& topology, const Model& model);

  Simulated run();

  const Subject& subject() const { return subject_; }
  const Model& model() const { return model_; }
  SimulatedRank& at(Rank rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  const Link& link(Rank a, Rank b) const;

  void post_send(Rank from, Rank to, std::int32_t channel, Token token, std::int64_t bytes, double time);
  void post_receive(Rank from, Rank to, std::int32_t channel, Token token, double time);
  // The rank has something to do from then on.
  void wake(double time, Rank rank) {
    if (at(rank).expect_turn(time)) push({time, 0, Event::What::turn, rank});
  }

 private:
  struct Event {
    enum class What : std::uint8_t { turn, launch, arrival };
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
  struct Stream {
    bool sends = false;
    std::int32_t first = -1;
    std::int32_t last = -1;
  };

  void push(Event event) {
    event.number = numbers_++;
    events_.push(event);
  }
  std::int32_t node_of(Rank rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  std::int32_t rack_of(Rank rank) const { return racks_[static_cast<std::size_t>(rank)]; }
  Message& message(std::int32_t index) { return messages_[static_cast<std::size_t>(index)]; }
  std::int32_t matched(bool send, Rank from, Rank to, std::int32_t channel);
  std::vector<Core>& cores_of(Rank rank);
  void turn(double time, Rank rank);
  double* wire_of(const Message& one);
  void launch(double time, std::int32_t index);
  void arrive(double time, std::int32_t index);
  void receive(std::int32_t index);

  const Subject& subject_;
  const Model& model_;
  std::vector<std::int32_t> nodes_;  // by rank
  std::vector<std::int32_t> racks_;
  std::vector<std::unique_ptr<SimulatedRank>> ranks_;
  std::vector<std::vector<Core>> cores_;  // by node; none: one for each rank
  bool oversubscribed_ = false;
  std::vector<Wires> node_wires_;
  std::vector<Wires> rack_wires_;
  std::vector<Message> messages_;
  Index<3> stream_numbers_;  // by sender, receiver and channel
  std::vector<Stream> streams_;
  std::priority_queue<Event> events_;
  std::int64_t numbers_ = 0;
};

double SimulatedRank::turn(double now) {
  clock_ = now;
  if (!std::exchange(started_, true)) {
    clock_ += world_.model().call;
    runner_.start();
  }
  for (std::size_t i = 0; i < completed_.size();) {
    if (completed_[i].time > now) {
      ++i;
      continue;
    }
    const Completed one = completed_[i];
    completed_.erase(completed_.begin() + static_cast<std::ptrdiff_t>(i));
    clock_ += one.work;
    runner_.complete(one.token);
  }
  while (!runner_.done() && runner_.advance()) {
  }
  return clock_;
}

std::int64_t SimulatedRank::bytes(std::span<const Piece> data) const {
  std::int64_t units = 0;
  for (const Piece& piece : data) units += piece.length;
  return schedule().unit == Unit::bytes ? units : units * world_.subject().element_bytes;
}

std::int64_t SimulatedRank::units(Buffer buffer, Rank owner, std::int32_t block) {
  const Schedule& of = owner == self ? schedule() : world_.at(owner).schedule();
  if (buffer == Buffer::scratch) return of.scratch[static_cast<std::size_t>(block)];
  if (buffer == Buffer::slot) return of.slots[static_cast<std::size_t>(block)];
  return world_.subject().units(owner == self ? rank_ : owner, buffer, block);
}

void SimulatedRank::send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) {
  const Link& link = world_.link(rank_, to);
  const std::int64_t size = bytes(data);
  clock_ += world_.model().operation + link.overhead;
  if (size <= link.eager || link.wire > 0) clock_ += static_cast<double>(size) * link.work;
  world_.post_send(rank_, to, channel, token, size, clock_);
}

void SimulatedRank::receive(Token token, Rank from, std::int32_t channel, std::span<const Piece>) {
  clock_ += world_.model().operation;
  world_.post_receive(from, rank_, channel, token, clock_);
}

void SimulatedRank::copy(Token, const Piece& source, const Piece&) {
  clock_ += world_.model().operation + static_cast<double>(bytes({&source, 1})) * world_.model().copy;
}

void SimulatedRank::reduce(Token, const Piece& left, const Piece&, const Piece&) {
  clock_ += world_.model().operation + static_cast<double>(bytes({&left, 1})) * world_.model().reduce;
}

void SimulatedRank::raise(std::int32_t counter, std::int64_t value, double seen) {
  counters_[static_cast<std::size_t>(counter)].push_back({seen, value});
  std::erase_if(watchers_, [&](const Watcher& one) {
    if (one.counter != counter || one.value > value) return false;
    world_.wake(seen, one.rank);
    return true;
  });
}

void SimulatedRank::publish(Token, std::int32_t counter, std::int64_t value) {
  clock_ += world_.model().operation;
  raise(counter, value, clock_ + world_.model().flag);
}

bool SimulatedRank::reached(std::int32_t counter, std::int64_t value, double time, double& later) const {
  for (const Set& set : counters_[static_cast<std::size_t>(counter)]) {
    if (set.value < value) continue;
    later = set.seen;
    return set.seen <= time;
  }
  later = -1;
  return false;
}

bool SimulatedRank::reached(Token, Rank owner, std::int32_t counter, std::int64_t value) {
  if (value <= 0) return true;
  SimulatedRank& of = owner == self ? *this : world_.at(owner);
  double later = -1;
  if (of.reached(counter, value, clock_, later)) return true;
  if (later >= 0) {
    world_.wake(later, rank_);
  } else {
    of.watch(rank_, counter, value);
  }
  return false;
}

World::World(const Subject& subject, const Topology& topology, const Model& model)
    : subject_(subject), model_(model), nodes_(subject.schedules.size()), racks_(subject.schedules.size()) {
  const int node_level = topology.levels() - 1;
  const int rack_level = std::max(0, node_level - 1);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i] = topology.domain_number(node_level, static_cast<Rank>(i));
    racks_[i] = topology.domain_number(rack_level, static_cast<Rank>(i));
  }
  node_wires_.resize(static_cast<std::size_t>(topology.domains(node_level)));
  rack_wires_.resize(static_cast<std::size_t>(topology.domains(rack_level)));
  for (const Schedule& schedule : subject.schedules) {
    ranks_.push_back(std::make_unique<SimulatedRank>(*this, schedule, subject.window));
  }
  if (model.cores <= 0) return;
  const auto cores = static_cast<std::size_t>(model.cores);
  cores_.assign(model.one_machine ? 1 : node_wires_.size(), std::vector<Core>(cores));
  const std::size_t most =
      model.one_machine ? ranks_.size() : static_cast<std::size_t>(topology.largest_domain(node_level));
  oversubscribed_ = most > cores;
}

const Link& World::link(Rank a, Rank b) const {
  if (node_of(a) == node_of(b)) return model_.node;
  return rack_of(a) == rack_of(b) ? model_.network : model_.rack;
}

// The message that an end belongs to: one whose other end was posted before, or a new one.
std::int32_t World::matched(bool send, Rank from, Rank to, std::int32_t channel) {
  const auto number = static_cast<std::size_t>(stream_numbers_.add({from, to, channel}));
  if (number == streams_.size()) streams_.emplace_back();
  Stream& stream = streams_[number];
  if (stream.first >= 0 && stream.sends != send) return std::exchange(stream.first, message(stream.first).next);
  messages_.push_back({.from = from, .to = to, .send = {}, .receive = {}});
  const auto made = static_cast<std::int32_t>(messages_.size()) - 1;
  if (stream.first < 0) {
    stream = {send, made, made};
  } else {
    message(std::exchange(stream.last, made)).next = made;
  }
  return made;
}

void World::post_send(Rank from, Rank to, std::int32_t channel, Token token, std::int64_t bytes, double time) {
  const std::int32_t index = matched(true, from, to, channel);
  Message& one = message(index);
  const Link& way = link(from, to);
  one.send = token;
  one.bytes = bytes;
  one.sent = time;
  if (bytes <= way.eager) {
    at(from).complete_at(time, token, 0);
    wake(time, from);
    push({time, 0, Event::What::launch, index});
  } else if (one.received >= 0) {
    push({std::max(time, one.received) + way.rendezvous, 0, Event::What::launch, index});
  }
}

void World::post_receive(Rank from, Rank to, std::int32_t channel, Token token, double time) {
  const std::int32_t index = matched(false, from, to, channel);
  Message& one = message(index);
  one.receive = token;
  one.received = time;
  if (one.sent < 0) return;
  const Link& way = link(from, to);
  if (one.bytes > way.eager) push({std::max(time, one.sent) + way.rendezvous, 0, Event::What::launch, index});
  if (one.arrived >= 0) receive(index);
}

// The wires of a message, in turn; null behind the last.
double* World::wire_of(const Message& one) {
  const auto wires = [](std::vector<Wires>& all, std::int32_t number) -> Wires& {
    return all[static_cast<std::size_t>(number)];
  };
  const bool far = rack_of(one.from) != rack_of(one.to);
  switch (far || one.wire == 0 ? one.wire : one.wire + 2) {
    case 0:
      return &wires(node_wires_, node_of(one.from)).out;
    case 1:
      return &wires(rack_wires_, rack_of(one.from)).out;
    case 2:
      return &wires(rack_wires_, rack_of(one.to)).in;
    case 3:
      return &wires(node_wires_, node_of(one.to)).in;
    default:
      return nullptr;
  }
}

// A wire carries one message after another, at full rate; what follows begins as soon as the first bytes have come.
void World::launch(double time, std::int32_t index) {
  Message& one = message(index);
  const Link& way = link(one.from, one.to);
  const auto bytes = static_cast<double>(one.bytes);
  const bool waits = one.bytes > way.eager;
  const auto sent_at = [&](double end) {
    at(one.from).complete_at(end, one.send, 0);
    wake(end, one.from);
  };
  if (way.wire <= 0) {
    if (waits) sent_at(time + bytes * way.work);  // the receiver copies
    push({time + way.latency, 0, Event::What::arrival, index});
    return;
  }
  const bool in_rack = one.wire == 0 || one.wire == (rack_of(one.from) == rack_of(one.to) ? 1 : 3);
  const double rate = in_rack && model_.network.wire > 0 ? model_.network.wire : way.wire;
  double& wire = *wire_of(one);
  const double begin = std::max(time, wire);
  wire = begin + bytes * rate;
  if (waits && one.wire == 0) sent_at(wire);
  one.through = std::max(one.through, wire);
  ++one.wire;
  if (wire_of(one)) {
    push({begin, 0, Event::What::launch, index});
  } else {
    push({one.through + way.latency, 0, Event::What::arrival, index});
  }
}

void World::arrive(double time, std::int32_t index) {
  message(index).arrived = time;
  if (message(index).received >= 0) receive(index);
}

void World::receive(std::int32_t index) {
  const Message& one = message(index);
  const Link& way = link(one.from, one.to);
  const double time = std::max(one.arrived, one.received);
  at(one.to).complete_at(time, one.receive, way.overhead + static_cast<double>(one.bytes) * way.work);
  wake(time, one.to);
}

std::vector<World::Core>& World::cores_of(Rank rank) {
  return cores_[model_.one_machine ? 0 : static_cast<std::size_t>(node_of(rank))];
}

void World::turn(double time, Rank rank) {
  SimulatedRank& one = at(rank);
  one.turn_has_come(time);
  if (one.done()) return;
  if (one.free_at() > time) {
    wake(one.free_at(), rank);
    return;
  }
  if (cores_.empty()) {
    one.turn(time);
    return;
  }
  std::vector<Core>& cores = cores_of(rank);
  const auto own = std::find_if(cores.begin(), cores.end(), [&](const Core& core) { return core.last == rank; });
  const auto first =
      own != cores.end() && own->free <= time
          ? own
          : std::min_element(cores.begin(), cores.end(), [](const Core& a, const Core& b) { return a.free < b.free; });
  if (first->free > time) {
    wake(first->free, rank);
    return;
  }
  const bool switches = oversubscribed_ && first->last != rank;
  first->last = rank;
  first->free = one.turn(time + (switches ? model_.wake : 0));
}

Simulated World::run() {
  Simulated result;
  for (std::size_t i = 0; i < ranks_.size(); ++i) wake(0, static_cast<Rank>(i));
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    switch (event.what) {
      case Event::What::turn:
        turn(event.time, event.of);
        break;
      case Event::What::launch:
        launch(event.time, event.of);
        break;
      case Event::What::arrival:
        arrive(event.time, event.of);
        break;
    }
  }
  for (const auto& one : ranks_) {
    if (!one->done()) throw std::runtime_error("the simulation has come to a halt: ranks wait for each other");
    result.ends.push_back(one->end());
  }
  result.messages = static_cast<std::int64_t>(messages_.size());
  return result;
}

}  // namespace

Subject subject_of(const Algorithm& algorithm, const Problem& problem, std::int64_t element_bytes,
                   const BlockSizes& sizes) {
  const Collective collective = algorithm.collective;
  const auto at = [collective, problem](Rank rank) {
    Problem own = problem;
    own.rank = rank;
    return problem_of(collective, own);
  };
  Subject subject;
  subject.element_bytes = element_bytes;
  subject.units = [collective, at, sizes](Rank rank, Buffer buffer, std::int32_t block) {
    return block_units(collective, at(rank), sizes, buffer, block);
  };
  for (Rank rank = 0; rank < problem.ranks; ++rank) subject.schedules.push_back(build(algorithm, at(rank)));
  return subject;
}

double Simulated::time() const {
  return *std::max_element(ends.begin(), ends.end());
}

Simulated simulate(const Subject& subject, const Topology& topology, const Model& model) {
  return World(subject, topology, model).run();
}

}  // namespace quadrille::cost
