#include "cost/simulated_world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace quadrille::cost {

namespace {

// Messages of a rank in each direction: the default of QUADRILLE_IN_FLIGHT.
constexpr std::int64_t in_flight = 32;

}  // namespace

World::World(Work work, const Topology& topology, const Model& model)
    : work_(std::move(work)),
      model_(model),
      programs_(work_.ranks, work_.build),
      nodes_(static_cast<std::size_t>(work_.ranks)),
      racks_(nodes_.size()) {
  const int node_level = topology.levels() - 1;
  const int rack_level = std::max(0, node_level - 1);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i] = topology.domain_number(node_level, static_cast<Rank>(i));
    racks_[i] = topology.domain_number(rack_level, static_cast<Rank>(i));
  }
  node_wires_.resize(static_cast<std::size_t>(topology.domains(node_level)));
  rack_wires_.resize(static_cast<std::size_t>(topology.domains(rack_level)));
  for (Rank rank = 0; rank < work_.ranks; ++rank) {
    ranks_.push_back(std::make_unique<SimulatedRank>(*this, rank, programs_.of(rank), in_flight));
  }
  if (model.cores <= 0) return;
  const auto cores = static_cast<std::size_t>(model.cores);
  cores_.assign(model.one_machine ? 1 : node_wires_.size(), std::vector<Core>(cores));
  waiting_.assign(cores_.size(), 0);
  awaited_messages_.assign(ranks_.size(), 0);
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
  const auto [place, is_new] = streams_.try_emplace({from, to, channel});
  Stream& stream = place->second;
  if (!is_new && stream.sends != send) {
    const std::int32_t first = std::exchange(stream.first, message(stream.first).next);
    if (stream.first < 0) streams_.erase(place);
    return first;
  }
  const std::int32_t made = new_message(from, to);
  if (is_new) {
    stream = {send, made, made};
  } else {
    message(std::exchange(stream.last, made)).next = made;
  }
  return made;
}

std::int32_t World::new_message(Rank from, Rank to) {
  ++sent_messages_;
  std::int32_t made = free_message_;
  if (made >= 0) {
    free_message_ = message(made).next;
  } else {
    made = static_cast<std::int32_t>(messages_.size());
    messages_.emplace_back();
  }
  message(made) = {.from = from, .to = to, .send = {}, .receive = {}};
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
    at(from).complete_at(time, token, 0);  // which it sees at the end of this turn
    push({time, 0, Event::What::launch, index});
  } else if (one.received >= 0) {
    push({std::max(time, one.received) + way.rendezvous, 0, Event::What::launch, index});
  }
}

void World::post_receive(Rank from, Rank to, std::int32_t channel, Token token, double time) {
  const std::int32_t index = matched(false, from, to, channel);
  Message& one = message(index);
  awaits_message(to, 1);
  one.receive = token;
  one.received = time;
  if (one.sent < 0) return;
  const Link& way = link(from, to);
  if (one.bytes > way.eager) push({std::max(time, one.sent) + way.rendezvous, 0, Event::What::launch, index});
  if (one.arrived >= 0) receive(index);
}

void World::post_offload(Rank rank, Token token, std::size_t number, std::int64_t bytes, double time) {
  if (offloaded_.size() <= number) offloaded_.resize(number + 1);
  Offloaded& one = offloaded_[number];
  one.posted.emplace_back(rank, token);
  one.latest = std::max(one.latest, time);
  if (one.posted.size() < at(rank).schedule().offload.size()) return;
  const double end = one.latest + model_.offload.latency + static_cast<double>(bytes) * model_.offload.byte;
  for (const auto& [member, its_token] : one.posted) {
    at(member).complete_at(end, its_token, 0);
    wake(end, member);
  }
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

// How much longer a byte takes while others come the other way.
double World::exchange(const Message& one, double time) const {
  if (model_.network.exchange == 1) return 1;
  const auto back = under_way_.find({node_of(one.to), node_of(one.from)});
  return back != under_way_.end() && back->second > time ? model_.network.exchange : 1;
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
  const double rate = (in_rack && model_.network.wire > 0 ? model_.network.wire : way.wire) * exchange(one, time);
  double& wire = *wire_of(one);
  const double begin = std::max(time, wire);
  wire = begin + bytes * rate;
  if (one.wire == 0 && model_.network.exchange != 1) under_way_[{node_of(one.from), node_of(one.to)}] = wire;
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
  Message& one = message(index);
  const Link& way = link(one.from, one.to);
  const double time = std::max(one.arrived, one.received) + (one.arrived > one.received ? look(one.to) : 0);
  awaits_message(one.to, -1);
  at(one.to).complete_at(time, one.receive, way.overhead + static_cast<double>(one.bytes) * way.work);
  wake(time, one.to);
  one.next = std::exchange(free_message_, index);
}

double World::look(Rank rank) const {
  if (!oversubscribed_) return 0;
  return model_.wake * std::max(1.0, static_cast<double>(waiting_[pool_of(rank)]) / model_.cores);
}

void World::awaits_message(Rank rank, int more) {
  if (!oversubscribed_) return;
  std::int32_t& awaited = awaited_messages_[static_cast<std::size_t>(rank)];
  const bool before = awaited > 0;
  awaited += more;
  waiting_[pool_of(rank)] += static_cast<int>(awaited > 0) - static_cast<int>(before);
}

void World::turn(double time, Rank rank, bool woken) {
  SimulatedRank& one = at(rank);
  one.turn_has_come(time);
  if (one.done()) return;
  const auto again = [&](double later) { woken ? wake_sleeper(later, rank) : wake(later, rank); };
  if (one.free_at() > time) {
    again(one.free_at());
    return;
  }
  const auto take_turn = [&](double begin) {
    const double end = one.turn(begin);
    if (one.has_news(end)) wake(end, rank);
    return end;
  };
  if (cores_.empty()) {
    take_turn(time);
    return;
  }
  std::vector<Core>& cores = cores_[pool_of(rank)];
  const auto own = std::find_if(cores.begin(), cores.end(), [&](const Core& core) { return core.last == rank; });
  const auto first =
      own != cores.end() && own->free <= time
          ? own
          : std::min_element(cores.begin(), cores.end(), [](const Core& a, const Core& b) { return a.free < b.free; });
  if (first->free > time) {
    again(first->free);
    return;
  }
  const bool switches = oversubscribed_ && woken && first->last != rank;
  first->last = rank;
  first->free = take_turn(time + (switches ? model_.wake : 0));
}

Simulated World::run() {
  Simulated result;
  for (std::size_t i = 0; i < ranks_.size(); ++i) wake(0, static_cast<Rank>(i));
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    ++result.events;
    switch (event.what) {
      case Event::What::turn:
      case Event::What::woken:
        turn(event.time, event.of, event.what == Event::What::woken);
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
  result.messages = sent_messages_;
  result.programs = static_cast<std::int64_t>(programs_.size());
  return result;
}

}  // namespace quadrille::cost
