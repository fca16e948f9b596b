#include "engine/cache.hpp"

#include <algorithm>
#include <utility>

namespace quadrille::engine {

namespace {

constexpr std::size_t most_shapes = 64;
constexpr std::size_t most_idle = 64;

}  // namespace

std::size_t Cache::ShapeHash::operator()(const Shape& shape) const {
  std::size_t hash = 0;
  const auto mix = [&hash](std::size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15U; };
  mix(reinterpret_cast<std::size_t>(shape.algorithm));
  mix(static_cast<std::size_t>(shape.root));
  mix(static_cast<std::size_t>(shape.width));
  mix(reinterpret_cast<std::size_t>(shape.shares.get()));
  mix(static_cast<std::size_t>(shape.memory));
  mix(static_cast<std::size_t>(shape.count));
  mix(static_cast<std::size_t>(shape.segment));
  mix(static_cast<std::size_t>(shape.window));
  mix(static_cast<std::size_t>(shape.room));
  mix(static_cast<std::size_t>(shape.in_place) * 8 + static_cast<std::size_t>(shape.commutative) * 4 +
      static_cast<std::size_t>(shape.fixed_order) * 2 + static_cast<std::size_t>(shape.staged));
  return hash;
}

std::shared_ptr<const Program> Cache::program(const Shape& shape, const std::function<Schedule()>& build) {
  auto place = entries_.find(shape);
  if (place == entries_.end()) {
    auto program = std::make_shared<const Program>(build());
    if (entries_.size() >= most_shapes) forget_oldest();
    place = entries_.emplace(shape, Entry{std::move(program), {}, 0}).first;
  }
  place->second.last_used = ++clock_;
  return place->second.program;
}

void Cache::forget_oldest() {
  const auto oldest = std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
    return a.second.last_used < b.second.last_used;
  });
  entries_.erase(oldest);
}

std::unique_ptr<Task> Cache::take(const Shape& shape) {
  const auto place = entries_.find(shape);
  if (place == entries_.end() || place->second.idle.empty()) return nullptr;
  place->second.last_used = ++clock_;
  std::unique_ptr<Task> task = std::move(place->second.idle.back());
  place->second.idle.pop_back();
  return task;
}

void Cache::keep(std::unique_ptr<Task> task) {
  if (task->signature()) {
    std::swap(task, recent_[place_for(*task->signature())]);
    if (!task) return;
  }
  task->unbind();
  const auto place = entries_.find(task->shape());
  if (place == entries_.end() || place->second.idle.size() >= most_idle) return;
  place->second.idle.push_back(std::move(task));
}

std::size_t Cache::place_for(const Signature& signature) {
  std::size_t hash = static_cast<std::size_t>(signature.collective) * 31 + static_cast<std::size_t>(signature.root);
  hash = hash * 31 + static_cast<std::size_t>(signature.output_count);
  hash = hash * 31 + reinterpret_cast<std::size_t>(signature.algorithm);
  hash = hash * 31 + static_cast<std::size_t>(signature.width);
  return hash * 0x9e3779b97f4a7c15U >> 58U;
}

std::unique_ptr<Task> Cache::recall(const Signature& signature, const void* input, const void* output) {
  std::unique_ptr<Task>& place = recent_[place_for(signature)];
  if (!place || place->signature() != signature) return nullptr;
  // A buffer that is NULL wants a second look.
  const auto missing = [](const std::vector<Typed>& blocks, const void* address) {
    return !blocks.empty() && blocks.front().count > 0 && !address;
  };
  if (missing(place->binding().input, input) || missing(place->binding().output, output)) return nullptr;
  const auto bind = [](std::vector<Typed>& blocks, const void* address) {
    if (!blocks.empty()) blocks.front().address = static_cast<std::byte*>(const_cast<void*>(address));
  };
  bind(place->binding().input, input);
  bind(place->binding().output, output);
  return std::move(place);
}

void Cache::pass_by(const Signature& signature) {
  passed_by_.resize(recent_.size());
  passed_by_[place_for(signature)] = signature;
}

bool Cache::passed_by(const Signature& signature) const {
  return !passed_by_.empty() && passed_by_[place_for(signature)] == signature;
}

std::shared_ptr<const Shares> Cache::shares(const detail::Integers& counts, Rank ranks) {
  const auto count_of = [&](Rank rank) { return counts[rank]; };
  for (const auto& known : shares_) {
    if (known->are(count_of)) return known;
  }
  if (shares_.size() >= most_shapes) {
    std::erase_if(shares_, [](const auto& unused) { return unused.use_count() == 1; });
  }
  std::vector<std::int64_t> all;
  for (Rank rank = 0; rank < ranks; ++rank) all.push_back(counts[rank]);
  return shares_.emplace_back(std::make_shared<const Shares>(all));
}

}  // namespace quadrille::engine
