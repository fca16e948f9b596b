#include "mutation/mutants.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace quadrille::mutation {

namespace {

constexpr std::array<std::string_view, damages> names = {
    "lost operation",      "other peer",         "other offset",      "other length",       "other block",
    "other buffer",        "other channel",      "lost dependency",   "weaker dependency",  "swapped messages",
    "swapped operands",    "too little scratch", "slot reused early", "announced early",    "lost flush",
    "other counter value", "other loop length",  "other loop window", "repeated operation", "other owner",
    "other node",          "lost signal",        "repeated signal",   "misdirected signal", "touched early",
    "lost notice"};

bool is_message(const Operation& operation) {
  return operation.kind == Kind::send || operation.kind == Kind::receive;
}

bool is_signal(const Operation& operation) {
  return is_message(operation) && operation.regions == 0;
}

bool sets_counter(const Operation& operation) {
  return counts(operation.kind);
}

bool sets_notice(const Operation& operation) {
  return operation.kind == Kind::notify || operation.kind == Kind::deposit;
}

class Surgeon {
 public:
  Surgeon(verify::Subject& subject, std::mt19937_64& random) : subject_(subject), random_(random) {
    rank_ = static_cast<Rank>(random_() % subject.schedules.size());
  }

  bool operate(Damage damage);

 private:
  Schedule& schedule() { return subject_.schedules[static_cast<std::size_t>(rank_)]; }
  std::int64_t step() { return random_() % 2 == 0 ? 1 : -1; }

  // A random matching operation, or null.
  Operation* any(const std::function<bool(const Operation&)>& fits) {
    std::vector<Operation*> fitting;
    for (Operation& operation : schedule().operations) {
      if (fits(operation)) fitting.push_back(&operation);
    }
    return fitting.empty() ? nullptr : fitting[random_() % fitting.size()];
  }
  Region* any_region() {
    Operation* operation = any([](const Operation& o) { return o.regions > 0; });
    if (!operation) return nullptr;
    const auto index =
        static_cast<std::size_t>(operation->first_region) + random_() % static_cast<std::size_t>(operation->regions);
    return &schedule().regions[index];
  }
  Dependency* any_dependency() {
    auto& all = schedule().dependencies;
    return all.empty() ? nullptr : &all[random_() % all.size()];
  }
  // A well-formed join is left in its place: what is wrong is only that it does nothing.
  void lose(Operation& operation) {
    operation.kind = Kind::join;
    operation.peer = self;
    operation.channel = operation.counter = operation.regions = 0;
    operation.value = operation.value_stride = 0;
  }
  // Removes dependencies of an operation; the flat list keeps its length.
  bool drop_dependencies(Operation& operation, const std::function<bool(const Dependency&)>& drop) {
    auto* first = schedule().dependencies.data() + operation.first_dependency;
    auto* last = std::remove_if(first, first + operation.dependencies, drop);
    const auto left = static_cast<std::int32_t>(last - first);
    const bool any = left < operation.dependencies;
    operation.dependencies = left;
    return any;
  }

  bool lose_dependency();
  bool weaken_dependency();
  bool swap_messages();
  bool swap_operands();
  bool announce_early();
  bool touch_early();
  bool move_region(Damage damage);
  bool change_loop(Damage damage);
  bool change_channel();
  bool repeat(const std::function<bool(const Operation&)>& fits);
  bool redirect(Operation* operation);
  bool change_owner();
  bool move_to_other_node();

  verify::Subject& subject_;
  std::mt19937_64& random_;
  Rank rank_;
};

bool Surgeon::operate(Damage damage) {
  switch (damage) {
    case Damage::lost_operation:
      if (Operation* o = any([](const Operation& x) { return x.kind != Kind::join; })) return lose(*o), true;
      return false;
    case Damage::other_peer:
      return redirect(any([](const Operation& x) { return x.peer != self; }));
    case Damage::other_offset:
    case Damage::other_length:
    case Damage::other_block:
    case Damage::other_buffer:
      return move_region(damage);
    case Damage::other_channel:
      return change_channel();
    case Damage::lost_dependency:
      return lose_dependency();
    case Damage::weaker_dependency:
      return weaken_dependency();
    case Damage::swapped_messages:
      return swap_messages();
    case Damage::swapped_operands:
      return swap_operands();
    case Damage::too_little_scratch:
      if (schedule().scratch.empty()) return false;
      schedule().scratch[random_() % schedule().scratch.size()] -= 1;
      return true;
    case Damage::slot_reused_early:
      if (Operation* o = any([](const Operation& x) { return awaits(x.kind); })) return o->value -= 1, true;
      return false;
    case Damage::announced_early:
      return announce_early();
    case Damage::lost_flush:
      if (Operation* o = any([](const Operation& x) { return x.kind == Kind::flush; })) return lose(*o), true;
      return false;
    case Damage::other_counter_value:
      if (Operation* o = any(sets_counter)) return o->value += step(), true;
      return false;
    case Damage::other_loop_length:
    case Damage::other_loop_window:
      return change_loop(damage);
    case Damage::repeated_operation:
      return repeat([](const Operation& x) { return x.kind != Kind::join; });
    case Damage::other_owner:
      return change_owner();
    case Damage::other_node:
      return move_to_other_node();
    case Damage::lost_signal:
      if (Operation* o = any(is_signal)) return lose(*o), true;
      return false;
    case Damage::repeated_signal:
      return repeat(is_signal);
    case Damage::misdirected_signal:
      return redirect(any(is_signal));
    case Damage::touched_early:
      return touch_early();
    case Damage::lost_notice:
      if (Operation* o = any(sets_notice)) return lose(*o), true;
      return false;
  }
  return false;
}

bool Surgeon::redirect(Operation* operation) {
  if (!operation) return false;
  operation->peer = (operation->peer + 1 + static_cast<Rank>(random_() % 2)) % schedule().ranks;
  return true;
}

bool Surgeon::change_owner() {
  std::vector<Region*> slots;
  for (Region& region : schedule().regions) {
    if (region.buffer == Buffer::slot) slots.push_back(&region);
  }
  if (slots.empty()) return false;
  Region& chosen = *slots[random_() % slots.size()];
  const Rank owner = chosen.owner == self ? rank_ : chosen.owner;
  chosen.owner = (owner + 1 + static_cast<Rank>(random_() % 2)) % schedule().ranks;
  if (chosen.owner == rank_) chosen.owner = self;
  return true;
}

// The schedules stay as they are, which is wrong only where memory is shared.
bool Surgeon::move_to_other_node() {
  if (schedule().counters == 0 && !schedule().one_sided()) return false;
  subject_.nodes.resize(subject_.schedules.size(), 0);
  subject_.nodes[static_cast<std::size_t>(rank_)] = 1 + *std::max_element(subject_.nodes.begin(), subject_.nodes.end());
  return true;
}

bool Surgeon::lose_dependency() {
  Operation* operation = any([](const Operation& o) { return o.dependencies > 0; });
  if (!operation) return false;
  const auto victim =
      schedule().dependencies_of(*operation)[random_() % static_cast<std::size_t>(operation->dependencies)];
  return drop_dependencies(*operation, [&](const Dependency& d) { return d == victim; });
}

bool Surgeon::weaken_dependency() {
  Dependency* dependency = any_dependency();
  if (!dependency) return false;
  if (dependency->distance > 0 && random_() % 2 == 0) {
    ++dependency->distance;
  } else if (!dependency->posted) {
    dependency->posted = true;
  } else {
    return false;
  }
  return true;
}

bool Surgeon::swap_messages() {
  Operation* one = any(is_message);
  if (!one) return false;
  Operation* other = any([&](const Operation& o) {
    return &o != one && o.kind == one->kind && o.regions == one->regions && o.loop == one->loop;
  });
  if (!other) return false;
  std::swap(one->peer, other->peer);
  std::swap(one->first_region, other->first_region);
  return true;
}

bool Surgeon::swap_operands() {
  Operation* operation = any([](const Operation& o) { return o.kind == Kind::reduce; });
  if (!operation) return false;
  Region* regions = schedule().regions.data() + operation->first_region;
  const bool in_place = regions[1] == regions[2];
  std::swap(regions[0], regions[1]);
  if (in_place) regions[2] = regions[1];
  // The result is then in the left operand: later reads must use that.
  return true;
}

bool Surgeon::announce_early() {
  Operation* operation = any(sets_counter);
  if (!operation) return false;
  return drop_dependencies(*operation, [](const Dependency& d) { return !d.posted; });
}

bool Surgeon::touch_early() {
  const auto awaited = [&](const Dependency& on) {
    const Kind kind = schedule().operations[static_cast<std::size_t>(on.operation)].kind;
    return kind == Kind::await || kind == Kind::collect;
  };
  Operation* operation = any([&](const Operation& o) {
    const auto all = schedule().dependencies_of(o);
    return std::any_of(all.begin(), all.end(), awaited);
  });
  return operation && drop_dependencies(*operation, awaited);
}

bool Surgeon::move_region(Damage damage) {
  Region* region = any_region();
  if (!region) return false;
  if (damage == Damage::other_offset) {
    region->offset += step();
  } else if (damage == Damage::other_length) {
    region->length = region->length == whole ? 1 : region->length + step();
  } else if (damage == Damage::other_block) {
    region->block += static_cast<std::int32_t>(step());
  } else {
    region->buffer = static_cast<Buffer>((static_cast<int>(region->buffer) + 1 + static_cast<int>(random_() % 2)) % 3);
    region->owner = self;
  }
  return true;
}

bool Surgeon::change_channel() {
  Operation* operation = any(is_message);
  if (!operation) return false;
  for (Schedule& one : subject_.schedules) one.channels += 1;  // otherwise the channel's number alone would be an error
  operation->channel = schedule().channels - 1;
  return true;
}

bool Surgeon::change_loop(Damage damage) {
  if (schedule().loops.empty()) return false;
  Loop& loop = schedule().loops[random_() % schedule().loops.size()];
  if (damage == Damage::other_loop_window) {
    loop.window += 1 + static_cast<std::int32_t>(random_() % 2);
  } else if (loop.chunk > 0) {
    loop.chunk += step();
  } else {
    loop.iterations += step();
  }
  return true;
}

// Appends a copy of an operation at the end of the schedule.
bool Surgeon::repeat(const std::function<bool(const Operation&)>& fits) {
  Operation* chosen = any([&](const Operation& o) { return fits(o) && o.loop < 0; });
  if (!chosen) return false;
  Operation copy = *chosen;
  const auto original = static_cast<std::int32_t>(chosen - schedule().operations.data());
  copy.first_dependency = static_cast<std::int32_t>(schedule().dependencies.size());
  copy.dependencies = 1;
  schedule().dependencies.push_back({original, 0, false});
  schedule().operations.push_back(copy);
  return true;
}

}  // namespace

std::string_view name(Damage damage) {
  return names[static_cast<std::size_t>(damage)];
}

bool inflict(Damage damage, verify::Subject& subject, std::mt19937_64& random) {
  return Surgeon(subject, random).operate(damage);
}

}  // namespace quadrille::mutation
