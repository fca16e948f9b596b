#include "replay/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "schedule/index.hpp"

namespace quadrille::replay {

namespace {

class World;

// One rank: its plan, the run of its current phase, and its side of the in-process transport.
class SimulatedRank final : public Backend {
 public:
  SimulatedRank(World& world, Rank rank, std::unique_ptr<Plan> plan)
      : world_(world), rank_(rank), plan_(std::move(plan)) {}

  // Fetches the next phase, so that peers can access its slots; it starts when the rank next advances.
  void begin_phase();
  bool advance();
  bool done() const { return done_; }
  void complete(Token token) { machine_->complete(token); }
  std::string waiting() const;
  const Binding& binding() const { return phase_.binding; }
  const Schedule& schedule() const { return phase_.program->schedule(); }
  std::int64_t counter(std::int32_t index) const;
  void raise(std::int32_t index, std::int64_t value);
  std::int64_t base(std::int64_t value) const { return counter_base_ + value; }

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  std::int64_t chunk(std::int32_t block, std::int64_t most) override { return phase_.binding.chunk(block, most); }
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override;
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override;
  void copy(Token token, const Piece& source, const Piece& target) override;
  void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) override;
  void publish(Token token, std::int32_t counter, std::int64_t value) override;
  bool reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) override;
  void put(Token token, Rank to, const Piece& source, const Piece& target) override;
  void flush(Token token, Rank to) override;
  void notify(Token token, Rank to, std::int32_t counter, std::int64_t value) override;
  void offload(Token token, std::span<const Piece> data) override;

 private:
  // A rank whose slots or counters this one uses.
  const SimulatedRank& sharing(Rank owner) const;
  Placed placed(const Piece& piece) const;
  void bring_scratch();
  // A message of these pieces, not yet posted.
  std::int32_t message(Token token, std::span<const Piece> data);

  World& world_;
  Rank rank_;
  std::unique_ptr<Plan> plan_;
  Phase phase_;
  std::unique_ptr<Machine> machine_;
  std::int32_t phases_ = 0;
  std::vector<std::vector<std::byte>> scratch_;
  std::int64_t counter_base_ = 0;
  std::vector<std::int64_t> counters_;
  bool begun_ = false;
  bool started_ = false;  // the current phase
  bool done_ = false;
};

// Communication in flight between two ranks. Messages match in posting order. A put arrives at any time before the
// flush after it completes, and a notification may overtake it.
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
  enum class What : std::uint8_t { put, flush, notify } what;
  Token token;
  Placed source{};
  Placed target{};
  std::int32_t counter = 0;
  std::int64_t value = 0;
};

// A collective of the MPI's own, as one of its ranks has posted it.
struct Offloaded {
  Token token;
  std::int32_t phase;
  std::vector<Placed> data;
};

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
  void offload(Rank rank, Offloaded what) { offloading_[static_cast<std::size_t>(rank)].push_back(std::move(what)); }
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
  std::vector<std::int64_t> received_;             // likewise, bytes
};

void SimulatedRank::begin_phase() {
  machine_.reset();
  // Other ranks may still read the slots of a rank that has ended.
  Phase next;
  done_ = !plan_->next(next);
  if (done_) {
    world_.rank_through();
    return;
  }
  phase_ = std::move(next);
  bring_scratch();
  ++phases_;
  machine_ = phase_.machine(*this, world_.posting());
  started_ = false;
}

// As the engine does, where a phase has none of its own.
void SimulatedRank::bring_scratch() {
  static const Layout byte = Layout::basic(1);
  Binding& binding = phase_.binding;
  if (!phase_.program || !binding.scratch.empty()) return;
  binding.unit = schedule().unit;
  const Layout& element = phase_.element ? *phase_.element : byte;
  scratch_.clear();
  for (const std::int64_t units : schedule().scratch) {
    const auto [first, last] = element.span(units);
    scratch_.emplace_back(static_cast<std::size_t>(last - first));
    binding.scratch.push_back({scratch_.back().data() - first, units, &element});
  }
}

bool SimulatedRank::advance() {
  if (done_) return false;
  if (!started_) {
    if (!std::exchange(begun_, true)) world_.rank_begun();
    started_ = true;
    machine_->start();
    return true;
  }
  const bool happened = machine_->advance();
  if (!machine_->done()) return happened;
  if (phase_.program) counter_base_ += phase_.program->schedule().counter_span;
  begin_phase();
  return true;
}

std::string SimulatedRank::waiting() const {
  std::string text;
  if (!machine_) return text;
  for (const std::string& one : machine_->awaited()) text += fmt::format("  rank {}: {}\n", rank_, one);
  return text;
}

std::int64_t SimulatedRank::counter(std::int32_t index) const {
  const auto place = static_cast<std::size_t>(index);
  return place < counters_.size() ? counters_[place] : 0;
}

void SimulatedRank::raise(std::int32_t index, std::int64_t value) {
  const auto place = static_cast<std::size_t>(index);
  if (place >= counters_.size()) counters_.resize(place + 1);
  counters_[place] = value;
}

const SimulatedRank& SimulatedRank::sharing(Rank owner) const {
  if (owner == self || owner == rank_) return *this;
  if (!world_.share_memory(rank_, owner)) {
    throw std::runtime_error(fmt::format("rank {} uses memory of rank {}, which is on another node", rank_, owner));
  }
  return world_.at(owner);
}

Placed SimulatedRank::placed(const Piece& piece) const {
  return place(sharing(piece.owner).binding(), piece);
}

std::int32_t SimulatedRank::message(Token token, std::span<const Piece> data) {
  const std::int32_t index = world_.take_message();
  Message& message = world_.message(index);
  message.token = token;
  message.buffered = false;
  message.next = -1;
  message.pieces.clear();
  for (const Piece& piece : data) message.pieces.push_back(placed(piece));
  return index;
}

std::int64_t SimulatedRank::units(Buffer buffer, Rank owner, std::int32_t block) {
  return sharing(owner).binding().units(buffer, block);
}

void SimulatedRank::send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) {
  const std::int32_t index = message(token, data);
  const bool buffered = world_.choose_buffered();
  if (buffered) {
    world_.message(index).buffered = true;
    world_.message(index).pack();
  }
  const bool open = phase_.protocol && channel == phase_.open_channel;
  if (open) {
    world_.post_open(true, rank_, to, channel, index);
  } else {
    world_.post(true, rank_, to, channel, phases_, index);
  }
  if (buffered) world_.complete_soon(rank_, token);
}

void SimulatedRank::receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) {
  const std::int32_t index = message(token, data);
  if (from == anyone) {
    world_.post_open(false, from, rank_, channel, index);
  } else {
    world_.post(false, from, rank_, channel, phases_, index);
  }
}

void SimulatedRank::copy(Token, const Piece& source, const Piece& target) {
  quadrille::copy(placed(source), placed(target));
}

void SimulatedRank::reduce(Token, const Piece& left, const Piece& right, const Piece& target) {
  quadrille::reduce(phase_.binding, placed(left), placed(right), placed(target));
}

void SimulatedRank::publish(Token, std::int32_t counter, std::int64_t value) {
  raise(counter, base(value));
}

bool SimulatedRank::reached(Token, Rank owner, std::int32_t counter, std::int64_t value) {
  return sharing(owner).counter(counter) >= base(value);
}

void SimulatedRank::put(Token token, Rank to, const Piece& source, const Piece& target) {
  world_.remote(rank_, to, {Remote::What::put, token, placed(source), place(world_.at(to).binding(), target)});
}

void SimulatedRank::flush(Token token, Rank to) {
  world_.remote(rank_, to, {Remote::What::flush, token});
}

void SimulatedRank::notify(Token token, Rank to, std::int32_t counter, std::int64_t value) {
  world_.remote(rank_, to, {Remote::What::notify, token, {}, {}, counter, base(value)});
}

void SimulatedRank::offload(Token token, std::span<const Piece> data) {
  Offloaded one{token, phases_, {}};
  for (const Piece& piece : data) one.data.push_back(placed(piece));
  world_.offload(rank_, std::move(one));
}

std::int32_t World::take_message() {
  if (unused_messages_.empty()) {
    messages_.emplace_back();
    return static_cast<std::int32_t>(messages_.size()) - 1;
  }
  const std::int32_t index = unused_messages_.back();
  unused_messages_.pop_back();
  return index;
}

void World::post(bool send, Rank from, Rank to, std::int32_t channel, std::int32_t phase, std::int32_t posted) {
  const auto number = static_cast<std::size_t>(stream_numbers_.add({from, to, channel, phase}));
  if (number == streams_.size()) streams_.emplace_back();
  Stream& stream = streams_[number];
  if (stream.first < 0) {
    stream = {send, posted, posted};
  } else if (stream.sends == send) {
    message(std::exchange(stream.last, posted)).next = posted;
  } else {
    const std::int32_t other = std::exchange(stream.first, message(stream.first).next);
    match({from, to, send ? posted : other, send ? other : posted});
  }
}

// Messages of one sender keep their order, those of different ones have none.
void World::post_open(bool send, Rank from, Rank to, std::int32_t channel, std::int32_t posted) {
  constexpr std::int32_t no_phase = 0;
  const auto number = static_cast<std::size_t>(open_numbers_.add({to, channel}));
  if (number == opens_.size()) opens_.emplace_back();
  Open& open = opens_[number];
  if (send && open.receives.empty()) {
    open.senders.push_back(from);
    post(true, from, to, channel, no_phase, posted);
  } else if (send) {
    const std::int32_t receive = open.receives.front();
    open.receives.pop_front();
    match({from, to, posted, receive});
  } else if (open.senders.empty()) {
    open.receives.push_back(posted);
  } else {
    std::swap(open.senders[random_() % open.senders.size()], open.senders.back());
    const Rank sender = open.senders.back();
    open.senders.pop_back();
    post(false, sender, to, channel, no_phase, posted);
  }
}

void World::match(const Pair& pair) {
  if (happens_at_once()) {
    deliver(pair);
  } else {
    matched_.push_back(pair);
  }
}

void World::complete_soon(Rank rank, Token token) {
  if (happens_at_once()) {
    at(rank).complete(token);
  } else {
    completions_.push_back({rank, token});
  }
}

bool World::deliver_one() {
  if (matched_.empty()) return false;
  const std::size_t pick = random_() % matched_.size();
  std::swap(matched_[pick], matched_.back());
  const Pair pair = matched_.back();
  matched_.pop_back();
  deliver(pair);
  return true;
}

void World::deliver(const Pair& pair) {
  Message& send = message(pair.send);
  const Message& receive = message(pair.receive);
  const std::int64_t bytes = packed_bytes(send.pieces);
  if (bytes != packed_bytes(receive.pieces)) {
    throw std::runtime_error(fmt::format("rank {} sends {} bytes, but rank {} receives {}", pair.from, bytes, pair.to,
                                         packed_bytes(receive.pieces)));
  }
  if (!send.buffered) {
    send.pack();
    at(pair.from).complete(send.token);
  }
  unpack(receive.pieces, 0, bytes, send.packed.data());
  received_[static_cast<std::size_t>(pair.to)] += bytes;
  at(pair.to).complete(receive.token);
  unused_messages_.insert(unused_messages_.end(), {pair.send, pair.receive});
}

bool World::complete_one() {
  if (completions_.empty()) return false;
  std::swap(completions_[random_() % completions_.size()], completions_.back());
  const auto [rank, token] = completions_.back();
  completions_.pop_back();
  at(rank).complete(token);
  return true;
}

bool World::apply_one() {
  std::vector<std::pair<Rank, Rank>> busy;
  for (const auto& [key, queue] : remotes_) {
    if (!queue.empty()) busy.push_back(key);
  }
  if (busy.empty()) return false;
  const auto [from, to] = busy[random_() % busy.size()];
  auto& queue = remotes_[{from, to}];
  // The front can always be performed; others may have to wait for it.
  return apply(from, to, queue, random_() % queue.size()) || apply(from, to, queue, 0);
}

// One that all its ranks have posted.
bool World::offload_one() {
  for (std::size_t rank = 0; rank < offloading_.size(); ++rank) {
    if (offloading_[rank].empty()) continue;
    const std::int32_t phase = offloading_[rank].front().phase;
    const std::vector<Rank> group = at(static_cast<Rank>(rank)).schedule().offload;
    const bool all = std::all_of(group.begin(), group.end(), [&](Rank one) {
      const auto& posted = offloading_[static_cast<std::size_t>(one)];
      return !posted.empty() && posted.front().phase == phase;
    });
    if (!all) continue;
    perform_together(group);
    return true;
  }
  return false;
}

// Each rank's data becomes that of all before it, with its own; then all have the last one's.
void World::perform_together(const std::vector<Rank>& group) {
  const auto posted = [&](Rank rank) -> std::deque<Offloaded>& { return offloading_[static_cast<std::size_t>(rank)]; };
  const auto data = [&](Rank rank) -> const std::vector<Placed>& { return posted(rank).front().data; };
  for (std::size_t i = 1; i < group.size() && !data(group[i]).empty(); ++i) {
    const Placed& own = data(group[i]).front();
    quadrille::reduce(at(group[i]).binding(), data(group[i - 1]).front(), own, own);
  }
  for (Rank rank : group) {
    if (!data(rank).empty() && rank != group.back()) {
      quadrille::copy(data(group.back()).front(), data(rank).front());
    }
  }
  for (Rank rank : group) {
    const Token token = posted(rank).front().token;
    posted(rank).pop_front();
    at(rank).complete(token);
  }
}

bool World::apply(Rank from, Rank to, std::deque<Remote>& queue, std::size_t index) {
  const Remote& one = queue[index];
  const auto before = [&](Remote::What what) {
    return std::any_of(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(index),
                       [&](const Remote& r) { return r.what == what; });
  };
  if (one.what == Remote::What::notify && before(Remote::What::notify)) return false;
  if (one.what == Remote::What::flush && before(Remote::What::put)) return false;
  if (one.what == Remote::What::put) quadrille::copy(one.source, one.target);
  if (one.what == Remote::What::notify) at(to).raise(one.counter, one.value);
  if (one.what == Remote::What::flush) at(from).complete(one.token);
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(index));
  return true;
}

bool World::step(bool thorough) {
  bool happened = false;
  std::shuffle(order_.begin(), order_.end(), random_);
  // Some ranks and messages are delayed; now and then all are tried.
  for (Rank rank : order_) {
    if (thorough || random_() % 3 == 0) happened |= at(rank).advance();
  }
  const std::size_t rounds = thorough ? 1 : random_() % (2 + matched_.size() + completions_.size());
  for (std::size_t i = 0; i < rounds; ++i) {
    happened |= deliver_one();
    happened |= complete_one();
    happened |= apply_one();
    happened |= offload_one();
  }
  return happened;
}

Outcome World::run() {
  Outcome outcome;
  for (std::size_t i = 0; i < ranks_.size(); ++i) order_.push_back(static_cast<Rank>(i));
  // Slots must exist before they are accessed.
  for (auto& one : ranks_) one->begin_phase();
  while (through_ < ranks_.size()) {
    if (!step(false) && !step(true)) throw Deadlock(waiting());
    outcome.overtaken |= through_ > 0 && begun_ < ranks_.size();
  }
  while (apply_one()) {
  }
  const bool left = !matched_.empty() || std::any_of(streams_.begin(), streams_.end(),
                                                     [](const Stream& stream) { return stream.first >= 0; });
  if (left) throw std::runtime_error("a message was sent but not received");
  const bool awaited =
      std::any_of(opens_.begin(), opens_.end(), [](const Open& open) { return !open.receives.empty(); });
  if (awaited) throw std::runtime_error("a message was awaited from anyone but not sent");
  outcome.received = std::move(received_);
  return outcome;
}

std::string World::waiting() const {
  std::string text = "deadlock; still waiting:\n";
  for (const auto& one : ranks_) text += one->waiting();
  return text;
}

}  // namespace

Outcome run(std::vector<std::unique_ptr<Plan>> plans, const Options& options) {
  return World(std::move(plans), options).run();
}

}  // namespace quadrille::replay
