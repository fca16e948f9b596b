#include "replay/simulated_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace quadrille::replay {

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
  for (std::size_t rank = 0; offloaded_ > 0 && rank < offloading_.size(); ++rank) {
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
    --offloaded_;
    at(rank).complete(token);
  }
}

bool World::apply(Rank from, Rank to, std::deque<Remote>& queue, std::size_t index) {
  const Remote& one = queue[index];
  const auto before = [&](Remote::What what) {
    return std::any_of(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(index),
                       [&](const Remote& r) { return r.what == what; });
  };
  using What = Remote::What;
  const bool in_turn = one.what == What::notify || one.what == What::deposit;
  if (in_turn && before(one.what)) return false;
  if (one.what == What::flush && before(What::put)) return false;
  const Remote now = std::move(queue[index]);
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(index));
  if (now.what == What::put || now.what == What::get) quadrille::copy(now.source, now.target);
  if (now.what == What::deposit) unpack({&now.target, 1}, 0, now.target.length, now.data.data());
  if (now.what == What::deposit) at(to).raise(Board::box, now.counter, now.value);
  if (now.what == What::notify) at(to).raise(Board::notice, now.counter, now.value);
  if (now.what == What::flush || now.what == What::get) at(from).complete(now.token);
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

}  // namespace quadrille::replay
