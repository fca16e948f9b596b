#include "placement/phases.hpp"

#include <algorithm>
#include <cstddef>

namespace quadrille::placement {

namespace {

// A swap of two ranks looks at the edges of each phase.
constexpr std::size_t most_phases = 32;

void append(const graph::Graph& graph, std::vector<Sent>& sent) {
  for (const auto& [from, row] : graph.rows()) {
    for (const auto& [to, traffic] : row) {
      sent.push_back({from, to, static_cast<double>(traffic.messages), static_cast<double>(traffic.bytes)});
    }
  }
}

Phase phase_of(Rank ranks, const std::vector<const graph::Graph*>& parts) {
  std::vector<Sent> sent;
  for (const graph::Graph* const part : parts) append(*part, sent);
  return {Graph(ranks, sent), 1};
}

}  // namespace

std::vector<Sent> sent_of(const graph::Graph& graph) {
  std::vector<Sent> sent;
  append(graph, sent);
  return sent;
}

std::vector<Phase> phases_of(const graph::Decomposed& sent) {
  const Rank ranks = sent.messages.ranks();
  std::vector<Phase> phases;
  if (!sent.messages.rows().empty() || sent.phases.empty()) phases.push_back(phase_of(ranks, {&sent.messages}));
  std::vector<const graph::Graph*> parts;
  for (const graph::Graph& one : sent.phases) parts.push_back(&one);
  if (parts.size() > most_phases) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const graph::Graph* a, const graph::Graph* b) { return a->total().bytes > b->total().bytes; });
  }
  const std::size_t alone = parts.size() > most_phases ? most_phases - 1 : parts.size();
  for (std::size_t i = 0; i < alone; ++i) phases.push_back(phase_of(ranks, {parts[i]}));
  if (alone < parts.size()) {
    phases.push_back(phase_of(ranks, {parts.begin() + static_cast<std::ptrdiff_t>(alone), parts.end()}));
  }
  return phases;
}

}  // namespace quadrille::placement
