#include "verify/happens_before.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/text.hpp"

namespace quadrille::verify {

namespace {

Index<3>::Key key(Kind kind, Rank rank, std::int32_t counter) {
  return {static_cast<std::int64_t>(board(kind)), rank, counter};
}

}  // namespace

std::string describe(const Unrolled& ranks, Rank rank, std::int32_t instance) {
  const Token token = ranks.token(instance);
  return fmt::format("rank {}: {}", rank, to_text(ranks.schedule(), token));
}

HappensBefore::HappensBefore(const Execution& execution) : execution_(execution) {
  for (const Unrolled& rank : execution.ranks) {
    rank_.insert(rank_.end(), static_cast<std::size_t>(rank.size()), static_cast<Rank>(base_.size() - 1));
    base_.push_back(base_.back() + rank.size());
  }
  remote_cause_.assign(static_cast<std::size_t>(size()), -1);
  for (const Matched& message : execution.messages) {
    remote_cause_[static_cast<std::size_t>(global(message.to, message.receive))] = global(message.from, message.send);
  }
  for (const Together& one : execution.offloads) {
    for (const auto& [rank, instance] : one.instances) together_[global(rank, instance)] = &one;
  }
  gather_counters();
  for (Id id = 0; id < size(); ++id) {
    if (!awaits(operation(id).kind)) continue;
    const Id cause = setting_for(id);
    remote_cause_[static_cast<std::size_t>(id)] = cause;
    if (operation(id).kind == Kind::collect) match_deposit(cause, id);
  }
}

std::vector<HappensBefore::Id> HappensBefore::in_order_of_events() const {
  std::vector<Id> order(2 * static_cast<std::size_t>(size()), -1);  // an operation is posted, and completes
  for (Id id = 0; id < size(); ++id) order[static_cast<std::size_t>(posted(id))] = id;
  std::erase(order, -1);
  return order;
}

std::vector<std::vector<HappensBefore::Setting>> HappensBefore::deposits() const {
  std::vector<std::vector<Setting>> all;
  for (const std::vector<Setting>& settings : settings_) {
    if (operation(settings.front().by).kind != Kind::deposit) continue;
    all.push_back(settings);
    std::stable_sort(all.back().begin(), all.back().end(),
                     [](const Setting& a, const Setting& b) { return a.value < b.value; });
  }
  return all;
}

std::int64_t HappensBefore::value_of(Id id) const {
  const Operation& of = operation(id);
  return of.value + of.value_stride * rank(rank_of(id)).token(local(id)).iteration;
}

void HappensBefore::gather_counters() {
  for (Id id = 0; id < size(); ++id) {
    const Operation& of = operation(id);
    if (!counts(of.kind)) continue;
    const Rank owner = of.kind == Kind::publish ? rank_of(id) : of.peer;
    const auto number = static_cast<std::size_t>(counters_.add(key(of.kind, owner, of.counter)));
    if (number == settings_.size()) settings_.emplace_back();
    std::vector<Setting>& settings = settings_[number];
    if (!settings.empty() && of.kind != Kind::deposit) check_setting(settings.back(), id);
    settings.push_back({value_of(id), id});
  }
}

void HappensBefore::check_setting(const Setting& before, Id id) {
  if (!fault_.empty()) return;
  if (rank_of(before.by) != rank_of(id)) {
    fault_ = fmt::format("two writers of one counter: {} and {}", text(before.by), text(id));
  } else if (value_of(id) <= before.value || !rank(rank_of(id)).ordered(local(before.by), local(id), true)) {
    fault_ = fmt::format("a counter can decrease: {} and {}", text(before.by), text(id));
  }
}

void HappensBefore::match_deposit(Id deposit, Id collect) {
  if (!fault_.empty()) return;
  const auto range = [&](Id id, std::size_t operand) {
    return range_at(rank(rank_of(id)).schedule().regions_of(operation(id))[operand], 0);
  };
  const bool there = deposit >= 0 && posted(deposit) < event(collect).completed;
  const bool same = there && value_of(deposit) == value_of(collect) && range(deposit, 1) == range(collect, 0);
  if (!same || !collect_of_.emplace(deposit, collect).second) {
    fault_ = fmt::format("{} has no deposit of its own", text(collect));
  }
}

// The update that completes a wait; -1 if the counter is high enough from the start.
HappensBefore::Id HappensBefore::setting_for(Id wait) const {
  const Operation& of = operation(wait);
  const std::int64_t value = value_of(wait);
  if (value <= 0) return -1;
  const std::int32_t number = counters_.find(key(of.kind, of.kind == Kind::wait ? of.peer : rank_of(wait), of.counter));
  if (number < 0) return -1;
  const Setting* first = nullptr;
  for (const Setting& setting : settings_[static_cast<std::size_t>(number)]) {
    if (setting.value >= value && (!first || setting.value < first->value)) first = &setting;
  }
  return first ? first->by : -1;
}

}  // namespace quadrille::verify
