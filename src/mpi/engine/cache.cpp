#include "engine/cache.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace quadrille::engine {

namespace {

// Of one shape: calls that differ in what a schedule does not depend on, such as the operation, and calls in flight.
constexpr std::size_t most_families = 64;
constexpr std::size_t most_idle = 64;
// Of one shape: calls of so many different sizes.
constexpr std::size_t most_keys = 4096;
// What an entry, a family and a key take beside programs and tasks, in lists and tables.
constexpr std::int64_t entry_bytes = 256;
constexpr std::int64_t family_bytes = 512;
constexpr std::int64_t key_bytes = 256;

CallKey without_counts(CallKey key) {
  key.input_count = key.output_count = 0;
  return key;
}

}  // namespace

void Cache::add_bytes(Entry& entry, std::int64_t bytes) {
  entry.bytes += bytes;
  bytes_ += bytes;
}

Cache::Entry& Cache::add_entry(const Shape& shape, std::shared_ptr<const Program> program, std::int64_t bytes) {
  Entry& entry = entries_.emplace_front();
  entry.shape = shape;
  entry.program = std::move(program);
  entry.number = ++numbers_;
  add_bytes(entry, bytes);
  return entry;
}

// A task is counted once, whether it is idle or in use.
void Cache::count(Task& task, Entry& entry) {
  if (std::exchange(task.home().entry, entry.number) != entry.number) add_bytes(entry, task.bytes());
}

// Since the last time that was asked.
bool Cache::used_lately(Entry& entry) {
  bool used = std::exchange(entry.used, false);
  for (Family& family : entry.families) used |= std::exchange(family.used, false);
  return used;
}

void Cache::forget_keys(Entry& entry) {
  recent_ = {};
  ++epoch_;
  for (const CallKey* key : entry.keys) by_key_.erase(*key);
  add_bytes(entry, -key_bytes * std::ssize(entry.keys));
  entry.keys.clear();
}

// A few stay, whatever they take: at many ranks a few schedules may be longer than all that. What was used lately has a
// second chance, behind the newest.
void Cache::make_room() {
  while (bytes_ > most_bytes_ && entries_.size() > least_entries_) {
    Entry& oldest = entries_.back();
    if (used_lately(oldest)) {
      entries_.splice(std::next(entries_.begin()), entries_, std::prev(entries_.end()));
      continue;
    }
    forget_keys(oldest);
    if (oldest.program) by_shape_.erase(oldest.shape);
    bytes_ -= oldest.bytes;
    entries_.pop_back();
  }
}

std::shared_ptr<const Program> Cache::program(const Shape& shape, const std::function<Schedule()>& build) {
  const auto place = by_shape_.find(shape);
  if (place != by_shape_.end()) {
    place->second->used = true;
    return place->second->program;
  }
  auto program = std::make_shared<const Program>(build());
  by_shape_.emplace(shape, &add_entry(shape, program, entry_bytes + program->bytes()));
  make_room();
  return program;
}

void Cache::forget_oldest_family(Entry& entry) {
  Family& oldest = entry.families.front();
  // Keys do not tell which family they lead to: the next calls find out anew.
  forget_keys(entry);
  if (oldest.idle) oldest.more.push_back(std::move(oldest.idle));
  for (std::unique_ptr<Task>& task : oldest.more) {
    task->unbind();
    entry.idle.push_back(std::move(task));
  }
  entry.families.pop_front();
  add_bytes(entry, -family_bytes);
}

std::unique_ptr<Task> Cache::take(const Shape& shape) {
  const auto place = by_shape_.find(shape);
  if (place == by_shape_.end()) return nullptr;
  Entry& entry = *place->second;
  if (entry.idle.empty()) return nullptr;
  entry.used = true;
  std::unique_ptr<Task> task = std::move(entry.idle.back());
  entry.idle.pop_back();
  return task;
}

Cache::Family& Cache::family_of(Entry& entry, const CallKey& key) {
  const CallKey common = without_counts(key);
  for (Family& family : entry.families) {
    if (family.key == common) return family;
  }
  if (entry.families.size() >= most_families) forget_oldest_family(entry);
  Family& family = entry.families.emplace_back();
  family.key = common;
  family.entry = &entry;
  add_bytes(entry, family_bytes);
  return family;
}

const Cache::Known* Cache::find(const CallKey& key) {
  const std::size_t hash = CallKeyHash()(key);
  const Known*& recent = recent_[hash >> 58U];
  if (recent && *recent->key == key) return recent;
  const auto place = by_key_.find(key);
  return place == by_key_.end() ? nullptr : recent = &place->second;
}

const Cache::Known& Cache::add_key(Family& family, const CallKey& key, const Task::Sizes& sizes,
                                   const Decision& decision) {
  Entry& entry = *family.entry;
  if (entry.keys.size() >= most_keys) forget_keys(entry);
  const auto same = std::find(family.decisions.begin(), family.decisions.end(), decision);
  const auto place = by_key_.try_emplace(key).first;
  place->second = {&place->first, &family, sizes, static_cast<std::size_t>(same - family.decisions.begin())};
  if (same == family.decisions.end()) family.decisions.push_back(decision);
  entry.keys.push_back(&place->first);
  add_bytes(entry, key_bytes);
  return place->second;
}

void Cache::keep(std::unique_ptr<Task> task) {
  // Back to where it came from, without another look.
  if (const Task::Home& home = task->home(); home.known && home.epoch == epoch_) {
    Family& family = *static_cast<const Known*>(home.known)->family;
    if (!family.idle) {
      family.idle = std::move(task);
      return;
    }
  }
  const auto place = by_shape_.find(task->shape());
  if (place == by_shape_.end()) return;
  Entry& entry = *place->second;
  count(*task, entry);
  std::vector<std::unique_ptr<Task>>* idle = &entry.idle;
  if (task->key()) {
    const Known* known = find(*task->key());
    if (!known) known = &add_key(family_of(entry, *task->key()), *task->key(), task->sizes(), task->decision());
    task->home().known = known;
    task->home().epoch = epoch_;
    if (!known->family->idle) {
      known->family->idle = std::move(task);
      make_room();
      return;
    }
    idle = &known->family->more;
  } else {
    task->unbind();
  }
  if (idle->size() < most_idle) {
    idle->push_back(std::move(task));
  } else {
    add_bytes(entry, -task->bytes());
  }
  make_room();
}

Cache::Recalled Cache::recall(const CallKey& key, const void* input, const void* output) {
  const Known* const known = find(key);
  if (!known) return {};
  Family& family = *known->family;
  family.used = true;
  if (family.native) return {nullptr, family.decisions[known->decision].source()};
  if (!family.idle && family.more.empty()) return {};
  // A buffer that is NULL wants a second look.
  const Task::Sizes& sizes = known->sizes;
  if ((sizes.input > 0 && !input) || (sizes.output > 0 && !output)) return {};
  std::unique_ptr<Task> task = std::move(family.idle);
  if (!task) {
    task = std::move(family.more.back());
    family.more.pop_back();
  }
  if (Task::Home& home = task->home(); home.known != known || home.epoch != epoch_) {
    task->rebind(key, sizes, family.decisions[known->decision]);
    home.known = known;
    home.epoch = epoch_;
  }
  task->set_addresses(input, output);
  return {std::move(task), std::nullopt};
}

void Cache::keep_native(const CallKey& key, const Decision& decision) {
  if (find(key)) return;
  Entry& entry = add_entry({}, nullptr, entry_bytes);
  Family& family = family_of(entry, key);
  family.native = true;
  add_key(family, key, {}, decision);
  make_room();
}

std::shared_ptr<const Shares> Cache::shares(const detail::Integers& counts, Rank ranks) {
  const auto count_of = [&](Rank rank) { return counts[rank]; };
  const std::uint64_t mark = Shares::mark_of(ranks, count_of);
  const auto [first, last] = shares_.equal_range(mark);
  for (auto known = first; known != last; ++known) {
    if (known->second->are(count_of)) return known->second;
  }
  if (shares_.size() >= most_shares_) {
    std::erase_if(shares_, [](const auto& unused) { return unused.second.use_count() == 1; });
    most_shares_ = std::max(most_shares_, 2 * shares_.size());
  }
  std::vector<std::int64_t> all;
  for (Rank rank = 0; rank < ranks; ++rank) all.push_back(counts[rank]);
  return shares_.emplace(mark, std::make_shared<const Shares>(all))->second;
}

}  // namespace quadrille::engine
