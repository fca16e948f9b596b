#include "graph/policy.hpp"

#include <map>
#include <memory>
#include <utility>

#include "select/selector.hpp"
#include "topology/topology.hpp"

namespace quadrille::graph {

namespace {

// Decides on so many ranks, each on a node of its own.
struct Ground {
  Topology topology;
  Selector selector;

  static Topology apart(Rank ranks) {
    std::vector<std::int32_t> nodes;
    for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back(rank);
    return {ranks, {nodes}};
  }
  Ground(Rank ranks, const cost::Model& model)
      : topology(apart(ranks)), selector({}, {}, ranks, {.topology = &topology}) {
    selector.set_model(model);
  }
};

}  // namespace

Policy quadrille_policy(const cost::Model& model) {
  const auto grounds = std::make_shared<std::map<Rank, Ground>>();
  return {std::string(knowledge::own_policy), [grounds, model](const Case& asked) {
            const Ground& ground = grounds->try_emplace(asked.ranks, asked.ranks, model).first->second;
            const Decision decision = ground.selector.decide(asked, {});
            if (decision.native()) return knowledge::Choice{};
            const Variant variant = ground.selector.requirements().completed(decision.variant, asked);
            return knowledge::Choice{variant.algorithm().name, {{asked, variant}}};
          }};
}

Policy policy_of(const knowledge::Library& library) {
  return {std::string(library.policy), library.choose};
}

Policy with(Policy policy, Collective collective, const Variant& variant) {
  policy.choose = [rest = std::move(policy.choose), collective, variant](const Case& asked) {
    if (asked.collective != collective) return rest(asked);
    return knowledge::Choice{variant.algorithm().name, {{asked, variant}}};
  };
  return policy;
}

}  // namespace quadrille::graph
