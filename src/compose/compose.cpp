#include "compose/compose.hpp"

#include <stdexcept>

namespace quadrille::compose {

void on(Builder& builder, const Group& group, std::int32_t channel, Problem problem, const Part& part) {
  const auto rank = group.index_of(problem.rank);
  if (!rank) return;
  problem.rank = *rank;
  problem.root = group.index_of(problem.root).value_or(-1);
  problem.ranks = group.size();
  builder.within(group, channel, [&] { part(builder, problem); });
}

void hierarchical_bcast(Builder& builder, const Problem& problem, const std::vector<Part>& levels) {
  const Topology& topology = *problem.topology;
  if (static_cast<int>(levels.size()) != topology.levels()) {
    throw std::invalid_argument("hierarchical_bcast: one part for each level of the topology");
  }
  builder.for_each_segment(problem.count, problem.segment, problem.window, [&](const Segment& segment) {
    Problem piece = problem;
    piece.output = segment.of(problem.output);
    piece.count = segment.length;
    Rank leader = problem.root;
    for (int level = 0; level < topology.levels(); ++level) {
      const bool innermost = level + 1 == topology.levels();
      const Group group =
          innermost ? topology.domain(level, problem.rank) : topology.leaders(level, problem.rank, problem.root);
      piece.root = leader;
      on(builder, group, level, piece, levels[static_cast<std::size_t>(level)]);
      if (!innermost) leader = topology.leader(level + 1, problem.rank, problem.root);
    }
  });
}

}  // namespace quadrille::compose
