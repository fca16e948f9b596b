#include "verify/unrolled.hpp"

namespace quadrille::verify {

namespace {

std::vector<std::int32_t> last_operations(const Schedule& schedule, const Loop& loop) {
  std::vector<bool> followed(static_cast<std::size_t>(loop.last - loop.first));
  for (std::int32_t id = loop.first; id < loop.last; ++id) {
    for (const Dependency& one : schedule.dependencies_of(schedule.operations[static_cast<std::size_t>(id)])) {
      const bool inside = one.operation >= loop.first && one.operation < loop.last;
      if (inside && one.distance == 0 && !one.posted)
        followed[static_cast<std::size_t>(one.operation - loop.first)] = true;
    }
  }
  std::vector<std::int32_t> last;
  for (std::int32_t id = loop.first; id < loop.last; ++id) {
    if (!followed[static_cast<std::size_t>(id - loop.first)]) last.push_back(id);
  }
  return last;
}

}  // namespace

Unrolled::Unrolled(const Schedule& schedule, std::vector<std::int64_t> iterations)
    : schedule_(schedule), iterations_(std::move(iterations)) {
  const auto count = static_cast<std::int32_t>(schedule.operations.size());
  size_ = count;
  if (schedule.loops.empty()) return;
  for (const Loop& loop : schedule.loops) last_of_iteration_.push_back(last_operations(schedule, loop));
  places_.reserve(schedule.operations.size());
  for (std::int32_t id = 0; id < count;) {
    const std::int32_t loop = schedule.operations[static_cast<std::size_t>(id)].loop;
    const std::int32_t last = loop < 0 ? id + 1 : schedule.loops[static_cast<std::size_t>(loop)].last;
    const std::int64_t times = loop < 0 ? 1 : iterations_[static_cast<std::size_t>(loop)];
    const auto first = static_cast<std::int32_t>(tokens_.size());
    for (std::int32_t one = id; one < last; ++one) places_.push_back({first + one - id, last - id});
    for (std::int64_t k = 0; k < times; ++k) {
      for (std::int32_t one = id; one < last; ++one) tokens_.push_back({one, k});
    }
    id = last;
  }
  size_ = static_cast<std::int32_t>(tokens_.size());
}

bool Unrolled::ordered(std::int32_t earlier, std::int32_t later, bool posted) const {
  visited_.resize(static_cast<std::size_t>(size_));
  ++search_;
  stack_.assign(1, later);
  bool found = false;
  while (!stack_.empty() && !found) {
    const std::int32_t at = stack_.back();
    stack_.pop_back();
    for_each_predecessor(at, [&](std::int32_t before, bool posted_only) {
      if (before == earlier && (posted || !posted_only)) {
        found = true;
        return false;
      }
      auto& seen = visited_[static_cast<std::size_t>(before)];
      // Predecessors have lower numbers: nothing before `earlier` can lead to it.
      if (before > earlier && seen != search_) {
        seen = search_;
        stack_.push_back(before);
      }
      return true;
    });
  }
  return found;
}

std::int32_t Unrolled::flush_of(std::int32_t put) const {
  for (std::int32_t i = put + 1; i < size(); ++i) {
    const Operation& flush = operation(i);
    if (flush.kind == Kind::flush && flush.peer == operation(put).peer && ordered(put, i, true)) return i;
  }
  return -1;
}

}  // namespace quadrille::verify
