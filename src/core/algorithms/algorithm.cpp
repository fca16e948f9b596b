#include "algorithms/algorithm.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "algorithms/hierarchy.hpp"
#include "algorithms/node.hpp"
#include "topology/topology.hpp"

namespace quadrille {

namespace {

Problem completed(const Algorithm& algorithm, Problem problem) {
  if (problem.width == 0) problem.width = algorithm.width;
  return problem_of(algorithm.collective, problem);
}

}  // namespace

std::string refusal(const Algorithm& algorithm, const Problem& problem) {
  if (problem.in_place && !traits(algorithm.collective).may_be_in_place) {
    return fmt::format("{} has one buffer: it has no in-place form", name(algorithm.collective));
  }
  const auto why = [&](std::string_view what) {
    return fmt::format("{} {} {}", name(algorithm.collective), algorithm.name, what);
  };
  const Restrictions& restrictions = algorithm.restrictions;
  if (restrictions.commutative && !problem.commutative) return why("needs a commutative operation");
  if (restrictions.not_in_place && problem.in_place) return why("needs separate input and output");
  if (restrictions.in_place && !problem.in_place) return why("needs one buffer for input and output");
  if (restrictions.one_node && problem.ranks > 1 &&
      (node::ranks_of(problem).size() < problem.ranks || !node::shares_memory(problem))) {
    return why("needs all ranks on one node, with shared memory");
  }
  if (restrictions.offloads && !problem.offloads && hierarchy::nodes_of(problem) > 1) {
    return why(traits(algorithm.collective).reduces
                   ? "needs an operation that MPI predefines, and to be named by QUADRILLE_ALGORITHM, a table or a "
                     "machine file"
                   : "needs to be named by QUADRILLE_ALGORITHM, a table or a machine file");
  }
  if (restrictions.exposed && !problem.exposed) return why("needs data that lies in a window");
  if (restrictions.even_ranks && problem.ranks > 1 && problem.ranks % 2 == 1)
    return why("needs an even number of ranks");
  if (restrictions.ordered_nodes && !problem.commutative && problem.topology && !problem.topology->in_rank_order()) {
    return why("needs a commutative operation unless the ranks of every node are consecutive");
  }
  if (problem.fixed_order && !algorithm.fixed_order) return why("can't reduce in rank order");
  if (problem.width != 0 && algorithm.width == 0) return why("has no width");
  if (problem.width != 0 && problem.width < (algorithm.swaps ? 1 : 2)) {
    return why(algorithm.swaps ? "needs a width of at least 1" : "needs a width of at least 2");
  }
  return {};
}

std::vector<std::string_view> descriptions(const Restrictions& restrictions) {
  std::vector<std::string_view> words;
  if (restrictions.commutative) words.push_back("commutative operation");
  if (restrictions.not_in_place) words.push_back("not in place");
  if (restrictions.in_place) words.push_back("in place");
  if (restrictions.one_node) words.push_back("one node with shared memory");
  if (restrictions.trusts_lengths) words.push_back("not in checked mode");
  if (restrictions.offloads) words.push_back("named in advance; a reduction by an operation that MPI predefines");
  if (restrictions.exposed) words.push_back("data in a window");
  if (restrictions.even_ranks) words.push_back("even number of ranks");
  if (restrictions.ordered_nodes) words.push_back("commutative operation unless a node's ranks are consecutive");
  return words;
}

Schedule build(const Algorithm& algorithm, const Problem& problem) {
  if (const std::string why = refusal(algorithm, problem); !why.empty()) throw std::invalid_argument(why);
  Builder builder(problem.rank, problem.ranks, unit_of(algorithm.collective));
  algorithm.build(builder, completed(algorithm, problem));
  return builder.finish(algorithm.channels);
}

std::optional<Prediction> predict(const Algorithm& algorithm, const Problem& problem) {
  if (!algorithm.predict) return std::nullopt;
  return algorithm.predict(completed(algorithm, problem));
}

void outline(const Algorithm& algorithm, const Problem& problem, Outline& out) {
  if (problem.ranks > 1) algorithm.outline(completed(algorithm, problem), out);
}

std::int64_t scratch_units(const Algorithm& algorithm, const Problem& problem) {
  return algorithm.scratch_units(completed(algorithm, problem));
}

bool scales(const Algorithm& algorithm, const Problem& problem) {
  return algorithm.scales && problem.count > 0 && algorithm.scales(completed(algorithm, problem));
}

}  // namespace quadrille
