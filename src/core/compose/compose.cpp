#include "compose/compose.hpp"

namespace quadrille::compose {

void on(Builder& builder, const Group& group, std::int32_t channel, Problem problem, const Part& part) {
  const auto rank = group.index_of(problem.rank);
  if (!rank) return;
  problem.rank = *rank;
  problem.root = group.index_of(problem.root).value_or(-1);
  problem.ranks = group.size();
  builder.within(group, channel, [&] { part(builder, problem); });
}

std::vector<Level> levels_of(const Problem& problem) {
  std::vector<Level> levels;
  if (!problem.topology) return levels;
  const Topology& topology = *problem.topology;
  for (int level = 0; level + 1 < topology.levels(); ++level) {
    if (topology.leader(level + 1, problem.rank, problem.root) != problem.rank) continue;
    levels.push_back({level, topology.leaders(level, problem.rank, problem.root),
                      topology.leader(level, problem.rank, problem.root)});
  }
  return levels;
}

}  // namespace quadrille::compose
