// All-to-all by the hierarchical factor algorithm: nodes are paired in a tournament, and each rank of one swaps blocks
// with each rank of the other. A node without a partner swaps internally; if there never is one, all nodes do so at the
// end. So a link is busy with one other node at a time, and swaps inside a node do not delay links.
//
// Nodes of different sizes, and odd ones, take more steps than equal ones of even size. Any number of ranks on any
// nodes. Scratch: none; in place w segments in flight for each of k partners.

#include <algorithm>
#include <vector>

#include "algorithms/alltoall/swaps.hpp"
#include "patterns/partners.hpp"
#include "patterns/tournament.hpp"
#include "topology/topology.hpp"

namespace quadrille::alltoall {

namespace {

std::vector<Group> nodes_of(const Problem& problem) {
  if (!problem.topology) return {Group::all(problem.ranks)};
  const int level = problem.topology->levels() - 1;
  std::vector<Group> nodes;
  for (const Rank first : problem.topology->first_of_domains(level)) {
    nodes.push_back(problem.topology->domain(level, first));
  }
  return nodes;
}

std::vector<Rank> partners_by_node(const Problem& problem) {
  const std::vector<Group> nodes = nodes_of(problem);
  const auto count = static_cast<Rank>(nodes.size());
  Rank own = 0;
  while (!nodes[static_cast<std::size_t>(own)].index_of(problem.rank)) ++own;
  const Group& node = nodes[static_cast<std::size_t>(own)];
  const Rank place = *node.index_of(problem.rank);
  std::vector<Rank> order;
  const auto meet_own = [&] {
    for (const Rank partner : patterns::partners_by_tournament(place, node.size())) order.push_back(node[partner]);
  };
  const auto meet = [&](const Group& other) {
    for (Rank step = 0; step < std::max(node.size(), other.size()); ++step) {
      const Rank partner = patterns::partner_across(place, node.size(), other.size(), step);
      if (partner >= 0) order.push_back(other[partner]);
    }
  };
  for (Rank round = 0; round < patterns::tournament_rounds(count); ++round) {
    if (const auto other = patterns::tournament_partner(own, count, round)) {
      meet(nodes[static_cast<std::size_t>(*other)]);
    } else {
      meet_own();
    }
  }
  if (count == 1 || count % 2 == 0) meet_own();
  return order;
}

void build(Builder& builder, const Problem& problem) {
  swap_in_turn(builder, problem, partners_by_node(problem));
}

}  // namespace

extern constexpr Algorithm hierarchical_factor = {
    .collective = Collective::alltoall,
    .name = "hierarchical_factor",
    .summary = "nodes are paired in a tournament, and each rank of one swaps blocks with each rank of the other",
    .paper = "Sanders, Träff: The hierarchical factor algorithm for all-to-all communication, 2002",
    .steps = "p - 1, for an even number of equal nodes of even size; in place (p - 1)(m + 2), for the same",
    .cost = cost_of_swaps,
    .scratch = "0; in place k w segments",
    .restrictions = {},
    .segmented = true,
    .hierarchical = true,
    .swaps = true,
    .width = 1,
    .build = build,
    .predict = nullptr,
    .scratch_units = scratch_to_swap,
    .outline = outline_swaps,
};

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm hierarchical_factor = twin(alltoall::hierarchical_factor, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm hierarchical_factor = twin(alltoall::hierarchical_factor, Collective::alltoallw);

}  // namespace quadrille::alltoallw
