#include "tools/illustration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "topology/topology.hpp"

namespace quadrille::tools {

namespace {

std::string counted(std::int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

// Never destroyed: problems refer to them.
const Topology& nodes(Rank ranks, Rank per_node) {
  static std::map<std::pair<Rank, Rank>, Topology> made;
  return made.try_emplace({ranks, per_node}, Topology::nodes(ranks, per_node)).first->second;
}

}  // namespace

Problem with_data(const Algorithm& algorithm, Problem problem, std::optional<std::int64_t> count,
                  std::optional<std::int64_t> segment, std::optional<Rank> per_node) {
  const Traits of = traits(algorithm.collective);
  problem.count = count.value_or(!of.moves_data() ? 0 : of.in_blocks() ? 1 : problem.ranks);
  if (algorithm.segmented) problem.segment = segment.value_or(std::max<std::int64_t>(1, (problem.count + 3) / 4));
  problem.in_place |= algorithm.restrictions.in_place;
  problem.exposed = algorithm.restrictions.exposed;
  problem.staging = problem.count;
  if (algorithm.hierarchical) {
    constexpr std::int64_t plenty = 1 << 20;
    problem.topology = &nodes(problem.ranks, per_node.value_or(algorithm.restrictions.one_node ? problem.ranks : 4));
    problem.room = plenty;
    problem.offloads = true;
  }
  return problem;
}

Illustration illustrate(const Algorithm& algorithm, const Problem& problem) {
  Illustration all{
      .subject = verify::subject_of(algorithm, problem, [count = problem.count](Rank, Rank) { return count; }),
      .title = {},
      .messages = {}};
  verify::Expressions expressions(all.subject.commutative);
  const verify::Execution execution = verify::execute(all.subject, expressions);
  if (!execution.fault.empty()) throw std::runtime_error(execution.fault);
  all.messages = verify::transfers(execution);
  all.title.heading = fmt::format("{}, {}", name(algorithm.collective), algorithm.name);
  all.title.subheading = fmt::format("{}, {}, {}", counted(problem.ranks, "rank"), counted(execution.steps, "step"),
                                     counted(static_cast<std::int64_t>(all.messages.size()), "message"));
  return all;
}

}  // namespace quadrille::tools
