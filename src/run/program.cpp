#include "run/program.hpp"

#include <algorithm>

namespace quadrille {

Program::Program(Schedule schedule) : schedule_(std::move(schedule)) {
  link_successors();
  number_messages();
  for (const Operation& operation : schedule_.operations) most_regions_ = std::max(most_regions_, operation.regions);
}

std::span<const Program::Successor> Program::successors(std::int32_t id) const {
  const auto first = static_cast<std::size_t>(first_successor_[static_cast<std::size_t>(id)]);
  const auto last = static_cast<std::size_t>(first_successor_[static_cast<std::size_t>(id) + 1]);
  return {successors_.data() + first, last - first};
}

void Program::link_successors() {
  const std::size_t count = schedule_.operations.size();
  first_successor_.assign(count + 1, 0);
  for (const Dependency& dependency : schedule_.dependencies)
    ++first_successor_[static_cast<std::size_t>(dependency.operation) + 1];
  for (std::size_t i = 0; i < count; ++i) first_successor_[i + 1] += first_successor_[i];
  successors_.resize(schedule_.dependencies.size());
  std::vector<std::int32_t> next(first_successor_.begin(), first_successor_.end() - 1);
  for (std::size_t i = 0; i < count; ++i) {
    for (const Dependency& dependency : schedule_.dependencies_of(schedule_.operations[i])) {
      auto& place = next[static_cast<std::size_t>(dependency.operation)];
      successors_[static_cast<std::size_t>(place++)] = {static_cast<std::int32_t>(i), dependency.posted};
    }
  }
}

void Program::number_messages() {
  numbering_.resize(schedule_.operations.size());
  for (std::size_t i = 0; i < schedule_.operations.size(); ++i) {
    const Operation& operation = schedule_.operations[i];
    if (!is_message(operation.kind)) continue;
    auto& segments = segments_[operation.kind == Kind::send ? 0 : 1];
    if (segments.empty() || segments.back().loop != operation.loop) segments.push_back({operation.loop, 0});
    numbering_[i].segment = static_cast<std::int32_t>(segments.size()) - 1;
    numbering_[i].first = segments.back().messages++;
  }
  for (std::size_t i = 0; i < schedule_.operations.size(); ++i) {
    const Operation& operation = schedule_.operations[i];
    if (operation.loop < 0 || numbering_[i].segment < 0) continue;
    numbering_[i].stride = segments(operation.kind)[static_cast<std::size_t>(numbering_[i].segment)].messages;
  }
}

}  // namespace quadrille
