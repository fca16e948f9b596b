#include "run/program.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/memory.hpp"

namespace quadrille {

Program::Program(Schedule schedule) : Program(std::make_shared<const Schedule>(std::move(schedule))) {}

Program Program::over(const Schedule& schedule) {
  return Program(std::shared_ptr<const Schedule>(std::shared_ptr<void>(), &schedule));
}

Program::Program(std::shared_ptr<const Schedule> schedule) : schedule_(std::move(schedule)) {
  link_successors();
  number_messages();
  for (const Operation& operation : schedule_->operations) most_regions_ = std::max(most_regions_, operation.regions);
  single_file_ = is_single_file();
}

std::int64_t Program::bytes() const {
  std::int64_t bytes = static_cast<std::int64_t>(sizeof(Program)) + schedule_->bytes();
  bytes += allocated(first_successor_) + allocated(successors_) + allocated(first_) + allocated(numbering_);
  for (const auto& segments : segments_) bytes += allocated(segments);
  for (const auto& messages : messages_) bytes += allocated(messages);
  return bytes;
}

bool Program::is_single_file() const {
  constexpr auto ends_by_itself = [](Kind kind) {
    return kind == Kind::copy || kind == Kind::reduce || kind == Kind::publish || kind == Kind::wait ||
           kind == Kind::join;
  };
  if (!schedule_->loops.empty()) return false;
  for (std::int32_t id = 0; id < operations(); ++id) {
    const auto before = schedule_->dependencies_of(operation(id));
    const bool follows = std::find(before.begin(), before.end(), Dependency{id - 1, 0, false}) != before.end();
    if (!ends_by_itself(operation(id).kind) || (id > 0 && !follows)) return false;
  }
  return true;
}

void Program::link_successors() {
  const auto list_of = [](const Dependency& on) { return successor_list(on.operation, on.posted); };
  first_successor_.assign(2 * schedule_->operations.size() + 1, 0);
  for (const Dependency& dependency : schedule_->dependencies) ++first_successor_[list_of(dependency) + 1];
  std::partial_sum(first_successor_.begin(), first_successor_.end(), first_successor_.begin());
  successors_.resize(schedule_->dependencies.size());
  std::vector<std::int32_t> next(first_successor_.begin(), first_successor_.end() - 1);
  for (std::int32_t id = 0; id < operations(); ++id) {
    for (const Dependency& dependency : schedule_->dependencies_of(operation(id)))
      successors_[static_cast<std::size_t>(next[list_of(dependency)]++)] = id;
    if (operation(id).dependencies == 0) first_.push_back(id);
  }
}

void Program::number_messages() {
  numbering_.resize(schedule_->operations.size());
  for (std::size_t i = 0; i < schedule_->operations.size(); ++i) {
    const Operation& operation = schedule_->operations[i];
    if (!is_message(operation.kind)) continue;
    auto& segments = segments_[operation.kind == Kind::send ? 0 : 1];
    auto& messages = messages_[operation.kind == Kind::send ? 0 : 1];
    if (segments.empty() || segments.back().loop != operation.loop)
      segments.push_back({.loop = operation.loop, .first = static_cast<std::int32_t>(messages.size())});
    numbering_[i].segment = static_cast<std::int32_t>(segments.size()) - 1;
    numbering_[i].first = segments.back().messages++;
    messages.push_back(static_cast<std::int32_t>(i));
  }
  for (std::size_t i = 0; i < schedule_->operations.size(); ++i) {
    const Operation& operation = schedule_->operations[i];
    if (operation.loop < 0 || numbering_[i].segment < 0) continue;
    numbering_[i].stride = segments(operation.kind)[static_cast<std::size_t>(numbering_[i].segment)].messages;
  }
}

}  // namespace quadrille
