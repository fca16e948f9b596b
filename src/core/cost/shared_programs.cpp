#include "cost/shared_programs.hpp"

#include <algorithm>
#include <utility>

namespace quadrille::cost {

namespace {

std::uint64_t hash(const Schedule& schedule) {
  std::uint64_t mixed = schedule.operations.size();
  const auto mix = [&](std::int64_t part) {
    mixed = (mixed ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15ULL;
    mixed ^= mixed >> 32U;
  };
  for (const Operation& operation : schedule.operations) {
    mix(static_cast<std::int64_t>(operation.kind));
    mix(operation.peer);
    mix(operation.value);
  }
  for (const Region& region : schedule.regions) mix(region.length);
  return mixed;
}

// What a run looks up when it begins, or in each iteration, is left as it is.
bool depends_on_binding(const Region& region) {
  return region.length == whole || region.clipped;
}

}  // namespace

SharedPrograms::SharedPrograms(Rank ranks, std::function<Schedule(Rank)> build)
    : ranks_(ranks), build_(std::move(build)) {
  // Neighbours in a hypercube have the same bits, in a ring the same distances. Rank 0 has both.
  const Rank last = ranks - 1;
  if (ranks < 3 || (ranks & last) != 0) return;
  const Schedule first = relative(build_(0));
  if (relative(build_(last)) == first) return;
  relation_ = Relation::bits;
  if (relative(build_(last)) != first) relation_ = Relation::distance;
}

Schedule SharedPrograms::relative(Schedule schedule) const {
  const auto number = [&](Rank peer) {
    if (peer == self) return self;
    if (relation_ == Relation::bits) return schedule.rank ^ peer;
    return peer < schedule.rank ? peer - schedule.rank + ranks_ : peer - schedule.rank;
  };
  for (Operation& operation : schedule.operations) operation.peer = number(operation.peer);
  for (Region& region : schedule.regions) {
    if (!depends_on_binding(region)) region = {.length = region.length};
    region.owner = number(region.owner);
  }
  schedule.rank = 0;
  return schedule;
}

std::shared_ptr<const Program> SharedPrograms::of(Rank rank) {
  Schedule schedule = relative(build_(rank));
  auto& alike = known_[hash(schedule)];
  const auto found =
      std::find_if(alike.begin(), alike.end(), [&](const auto& one) { return one->schedule() == schedule; });
  if (found != alike.end()) return *found;
  ++size_;
  alike.push_back(std::make_shared<const Program>(std::move(schedule)));
  return alike.back();
}

}  // namespace quadrille::cost
