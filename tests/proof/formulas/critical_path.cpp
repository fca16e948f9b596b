#include "formulas/critical_path.hpp"

#include <algorithm>

namespace quadrille::test {

CriticalPath::CriticalPath(const verify::Execution& run, const Times& times)
    : run_(run), times_(times), busy_(run.ranks.size()), only_notifies_(verify::only_notifies(run)) {
  for (const verify::Unrolled& rank : run.ranks) instances_.emplace_back(static_cast<std::size_t>(rank.size()));
  for (const verify::Matched& message : run.messages) {
    at(message.from, message.send).message = &message;
    at(message.to, message.receive).message = &message;
  }
}

// All that happens in the order in which it did: what an instance waits for has happened before.
double CriticalPath::length() {
  struct Event {
    std::int64_t position;
    Rank rank;
    std::int32_t instance;
    bool completed;
  };
  std::vector<Event> events;
  for (std::size_t rank = 0; rank < instances_.size(); ++rank) {
    for (std::size_t i = 0; i < instances_[rank].size(); ++i) {
      const verify::Event& event = run_.events[rank][i];
      events.push_back({event.posted, static_cast<Rank>(rank), static_cast<std::int32_t>(i), false});
      events.push_back({event.completed, static_cast<Rank>(rank), static_cast<std::int32_t>(i), true});
    }
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.position < b.position; });
  double last = 0;
  for (const Event& event : events) {
    event.completed ? complete(event.rank, event.instance) : post(event.rank, event.instance);
    last = std::max(last, at(event.rank, event.instance).completed);
  }
  return last;
}

void CriticalPath::post(Rank rank, std::int32_t instance) {
  double& posted = at(rank, instance).posted;
  unrolled(rank).for_each_predecessor(instance, [&](std::int32_t before, bool posted_only) {
    posted = std::max(posted, posted_only ? at(rank, before).posted : at(rank, before).completed);
    return true;
  });
}

void CriticalPath::complete(Rank rank, std::int32_t instance) {
  Done& done = at(rank, instance);
  if (done.completed >= 0) return;  // by the other end of a message
  const Kind kind = unrolled(rank).operation(instance).kind;
  if (done.message) {
    deliver(*done.message);
  } else if (kind == Kind::reduce) {
    double& reducing = busy(rank).reducing;
    const double work = times_.reduced * static_cast<double>(units(rank, instance));
    done.completed = reducing = std::max(reducing, done.posted) + work;
  } else {
    complete_one_sided(rank, instance);
  }
}

void CriticalPath::complete_one_sided(Rank rank, std::int32_t instance) {
  Done& done = at(rank, instance);
  const Operation& operation = unrolled(rank).operation(instance);
  const Kind kind = operation.kind;
  done.completed = done.posted;
  if (awaits(kind)) done.completed = std::max(done.completed, reached(rank, instance));
  const bool puts = kind == Kind::put || kind == Kind::deposit || (kind == Kind::notify && only_notifies_);
  if (puts || kind == Kind::get) {
    double& direction = puts ? busy(rank).sending : busy(rank).receiving;
    done.completed = direction = std::max(done.posted, direction) + time_of(units(rank, instance));
  }
  if (!counts(kind)) return;
  const Rank owner = kind == Kind::publish ? rank : operation.peer;
  counters_[{board(kind), owner, operation.counter}].push_back({value(rank, instance), done.completed});
}

double CriticalPath::reached(Rank rank, std::int32_t instance) const {
  const Operation& operation = unrolled(rank).operation(instance);
  const std::int64_t wanted = value(rank, instance);
  if (wanted <= 0) return 0;
  const Rank owner = operation.kind == Kind::wait && operation.peer != self ? operation.peer : rank;
  const auto& settings = counters_.at({board(operation.kind), owner, operation.counter});
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const Setting& one) { return one.value >= wanted; });
  return found->at;
}

void CriticalPath::deliver(const verify::Matched& message) {
  Done& send = at(message.from, message.send);
  Done& receive = at(message.to, message.receive);
  double& sending = busy(message.from).sending;
  double& receiving = busy(message.to).receiving;
  const double begin = std::max({send.posted, receive.posted, sending, receiving});
  send.completed = receive.completed = sending = receiving = begin + time_of(message.units);
}

std::int64_t CriticalPath::value(Rank rank, std::int32_t instance) const {
  const Operation& operation = unrolled(rank).operation(instance);
  return operation.value + operation.value_stride * unrolled(rank).token(instance).iteration;
}

std::int64_t CriticalPath::units(Rank rank, std::int32_t instance) const {
  std::int64_t all = 0;
  for (const verify::Held& held : run_.carried[static_cast<std::size_t>(rank)][static_cast<std::size_t>(instance)]) {
    all += held.range.end - held.range.begin;
  }
  return all;
}

}  // namespace quadrille::test
