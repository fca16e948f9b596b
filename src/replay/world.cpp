#include "replay/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "run/text.hpp"

namespace quadrille::replay {

namespace {

class World;

// One rank: its plan, the run of its current phase, and its side of the in-process transport.
class Process final : public Backend {
 public:
  Process(World& world, Rank rank, std::unique_ptr<Plan> plan) : world_(world), rank_(rank), plan_(std::move(plan)) {}

  // Fetches the next phase, so that peers can reach its slots; it starts when the rank next advances.
  void begin_phase();
  bool advance();
  bool begun() const { return begun_; }
  bool done() const { return done_; }
  void complete(Token token) { runner_->complete(token); }
  std::string waiting() const;
  const Binding& binding() const { return phase_.binding; }
  std::int64_t counter(std::int32_t index) const;
  void raise(std::int32_t index, std::int64_t value);
  std::int64_t base(std::int64_t value) const { return counter_base_ + value; }

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override;
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override;
  void copy(Token token, const Piece& source, const Piece& target) override;
  void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) override;
  void publish(Token token, std::int32_t counter, std::int64_t value) override;
  bool reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) override;
  void put(Token token, Rank to, const Piece& source, const Piece& target) override;
  void flush(Token token, Rank to) override;
  void notify(Token token, Rank to, std::int32_t counter, std::int64_t value) override;

 private:
  Placed placed(const Piece& piece) const;
  std::vector<Placed> placed(std::span<const Piece> pieces) const;

  World& world_;
  Rank rank_;
  std::unique_ptr<Plan> plan_;
  Phase phase_;
  std::unique_ptr<Runner> runner_;
  std::int32_t phases_ = 0;
  std::int64_t counter_base_ = 0;
  std::vector<std::int64_t> counters_;
  bool begun_ = false;
  bool started_ = false;  // the current phase
  bool done_ = false;
};

// What is under way between two ranks. Messages match in the order they were posted. A put arrives at any time before
// the flush behind it completes, and a notification may overtake it.
struct Message {
  Token token;
  std::vector<Placed> pieces;
  bool buffered = false;
  std::vector<std::byte> packed;  // of a buffered send

  void pack() {
    const std::int64_t bytes = packed_bytes(pieces);
    packed.resize(static_cast<std::size_t>(bytes));
    quadrille::pack(pieces, 0, bytes, packed.data());
  }
};
struct Stream {
  std::deque<Message> sends;
  std::deque<Message> receives;
};
struct Remote {
  enum class What : std::uint8_t { put, flush, notify } what;
  Token token;
  Placed source{};
  Placed target{};
  std::int32_t counter = 0;
  std::int64_t value = 0;
};

class World {
 public:
  World(std::vector<std::unique_ptr<Plan>> plans, const Options& options) : options_(options), random_(options.seed) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      processes_.push_back(std::make_unique<Process>(*this, static_cast<Rank>(i), std::move(plans[i])));
    }
  }

  Outcome run();

  Process& process(Rank rank) { return *processes_[static_cast<std::size_t>(rank)]; }
  Posting posting() { return {options_.window, options_.random_posting ? &random_ : nullptr, nullptr}; }
  bool choose_buffered() {
    return options_.sends == Sends::buffered || (options_.sends == Sends::mixed && random_() % 2 == 0);
  }
  // Phases keep apart, as sequence numbers do between collectives.
  Stream& stream(Rank from, Rank to, std::int32_t channel, std::int32_t phase) {
    return streams_[{from, to, channel, phase}];
  }
  void match(Rank from, Rank to, std::int32_t channel, std::int32_t phase);
  void complete_later(Rank rank, Token token) { completions_.push_back({rank, token}); }
  void remote(Rank from, Rank to, Remote what) { remotes_[{from, to}].push_back(std::move(what)); }

 private:
  struct Pair {
    Rank from;
    Rank to;
    Message send;
    Message receive;
  };
  // Each does one thing chosen at random, if there is any to do.
  bool deliver_one();
  bool complete_one();
  bool apply_one();
  bool apply(Rank from, Rank to, std::deque<Remote>& queue, std::size_t index);

  bool step(bool thorough);
  std::string waiting() const;

  Options options_;
  std::mt19937_64 random_;
  std::vector<Rank> order_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<std::tuple<Rank, Rank, std::int32_t, std::int32_t>, Stream> streams_;
  std::vector<Pair> matched_;
  std::vector<std::pair<Rank, Token>> completions_;  // of buffered sends
  std::map<std::pair<Rank, Rank>, std::deque<Remote>> remotes_;
};

void Process::begin_phase() {
  runner_.reset();
  done_ = !plan_->next(phase_);
  if (done_) return;
  ++phases_;
  runner_ = std::make_unique<Runner>(*phase_.program, *this, world_.posting());
  started_ = false;
}

bool Process::advance() {
  if (done_) return false;
  if (!started_) {
    begun_ = started_ = true;
    runner_->start();
    return true;
  }
  const bool happened = runner_->advance();
  if (!runner_->done()) return happened;
  counter_base_ += phase_.program->schedule().counter_span;
  begin_phase();
  return true;
}

std::string Process::waiting() const {
  std::string text;
  if (!runner_) return text;
  runner_->for_each_in_flight(
      [&](Token token) { text += fmt::format("  rank {}: {}\n", rank_, to_text(phase_.program->schedule(), token)); });
  return text;
}

std::int64_t Process::counter(std::int32_t index) const {
  const auto place = static_cast<std::size_t>(index);
  return place < counters_.size() ? counters_[place] : 0;
}

void Process::raise(std::int32_t index, std::int64_t value) {
  const auto place = static_cast<std::size_t>(index);
  if (place >= counters_.size()) counters_.resize(place + 1);
  counters_[place] = value;
}

Placed Process::placed(const Piece& piece) const {
  const Binding& binding = piece.owner == self ? phase_.binding : world_.process(piece.owner).binding();
  return place(binding, piece);
}

std::vector<Placed> Process::placed(std::span<const Piece> pieces) const {
  std::vector<Placed> all;
  for (const Piece& piece : pieces) all.push_back(placed(piece));
  return all;
}

std::int64_t Process::units(Buffer buffer, Rank owner, std::int32_t block) {
  return (owner == self ? phase_.binding : world_.process(owner).binding()).units(buffer, block);
}

void Process::send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) {
  Message message{token, placed(data), world_.choose_buffered(), {}};
  if (message.buffered) {
    message.pack();
    world_.complete_later(rank_, token);
  }
  world_.stream(rank_, to, channel, phases_).sends.push_back(std::move(message));
  world_.match(rank_, to, channel, phases_);
}

void Process::receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) {
  world_.stream(from, rank_, channel, phases_).receives.push_back({token, placed(data), false, {}});
  world_.match(from, rank_, channel, phases_);
}

void Process::copy(Token, const Piece& source, const Piece& target) {
  quadrille::copy(placed(source), placed(target));
}

void Process::reduce(Token, const Piece& left, const Piece& right, const Piece& target) {
  quadrille::reduce(phase_.binding.reduce, placed(left), placed(right), placed(target));
}

void Process::publish(Token, std::int32_t counter, std::int64_t value) {
  raise(counter, base(value));
}

bool Process::reached(Token, Rank owner, std::int32_t counter, std::int64_t value) {
  const Process& of = owner == self ? *this : world_.process(owner);
  return of.counter(counter) >= base(value);
}

void Process::put(Token token, Rank to, const Piece& source, const Piece& target) {
  world_.remote(rank_, to, {Remote::What::put, token, placed(source), placed(target)});
}

void Process::flush(Token token, Rank to) {
  world_.remote(rank_, to, {Remote::What::flush, token});
}

void Process::notify(Token token, Rank to, std::int32_t counter, std::int64_t value) {
  world_.remote(rank_, to, {Remote::What::notify, token, {}, {}, counter, base(value)});
}

void World::match(Rank from, Rank to, std::int32_t channel, std::int32_t phase) {
  Stream& both = stream(from, to, channel, phase);
  while (!both.sends.empty() && !both.receives.empty()) {
    matched_.push_back({from, to, std::move(both.sends.front()), std::move(both.receives.front())});
    both.sends.pop_front();
    both.receives.pop_front();
  }
}

bool World::deliver_one() {
  if (matched_.empty()) return false;
  const std::size_t pick = random_() % matched_.size();
  std::swap(matched_[pick], matched_.back());
  Pair pair = std::move(matched_.back());
  matched_.pop_back();
  if (packed_bytes(pair.send.pieces) != packed_bytes(pair.receive.pieces)) {
    throw std::runtime_error(fmt::format("rank {} sends {} bytes where rank {} receives {}", pair.from,
                                         packed_bytes(pair.send.pieces), pair.to, packed_bytes(pair.receive.pieces)));
  }
  if (!pair.send.buffered) {
    pair.send.pack();
    process(pair.from).complete(pair.send.token);
  }
  unpack(pair.receive.pieces, 0, packed_bytes(pair.receive.pieces), pair.send.packed.data());
  process(pair.to).complete(pair.receive.token);
  return true;
}

bool World::complete_one() {
  if (completions_.empty()) return false;
  std::swap(completions_[random_() % completions_.size()], completions_.back());
  const auto [rank, token] = completions_.back();
  completions_.pop_back();
  process(rank).complete(token);
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
  // The front can always be done; any other choice may have to wait for it.
  return apply(from, to, queue, random_() % queue.size()) || apply(from, to, queue, 0);
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
  if (one.what == Remote::What::notify) process(to).raise(one.counter, one.value);
  if (one.what == Remote::What::flush) process(from).complete(one.token);
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(index));
  return true;
}

bool World::step(bool thorough) {
  bool happened = false;
  std::shuffle(order_.begin(), order_.end(), random_);
  // Some ranks lag behind, and some messages take their time; now and then everything is tried.
  for (Rank rank : order_) {
    if (thorough || random_() % 3 == 0) happened |= process(rank).advance();
  }
  const std::size_t rounds = thorough ? 1 : random_() % (2 + matched_.size() + completions_.size());
  for (std::size_t i = 0; i < rounds; ++i) {
    happened |= deliver_one();
    happened |= complete_one();
    happened |= apply_one();
  }
  return happened;
}

Outcome World::run() {
  Outcome outcome;
  for (std::size_t i = 0; i < processes_.size(); ++i) order_.push_back(static_cast<Rank>(i));
  const auto all = [&](auto&& holds) { return std::all_of(processes_.begin(), processes_.end(), holds); };
  // Slots exist before anybody reaches for them.
  for (auto& process : processes_) process->begin_phase();
  while (!all([](const auto& process) { return process->done(); })) {
    if (!step(false) && !step(true)) throw Deadlock(waiting());
    const bool somebody_through = !all([](const auto& process) { return !process->done(); });
    outcome.overtaken |= somebody_through && !all([](const auto& process) { return process->begun(); });
  }
  while (apply_one()) {
  }
  const bool left = !matched_.empty() || std::any_of(streams_.begin(), streams_.end(), [](const auto& stream) {
    return !stream.second.sends.empty() || !stream.second.receives.empty();
  });
  if (left) throw std::runtime_error("a message was sent that nobody received");
  return outcome;
}

std::string World::waiting() const {
  std::string text = "deadlock; still waiting:\n";
  for (const auto& process : processes_) text += process->waiting();
  return text;
}

}  // namespace

Outcome run(std::vector<std::unique_ptr<Plan>> plans, const Options& options) {
  return World(std::move(plans), options).run();
}

}  // namespace quadrille::replay
