#include "graph/policy.hpp"

#include <map>
#include <memory>
#include <utility>

#include "select/selector.hpp"
#include "topology/topology.hpp"

namespace quadrille::graph {

namespace {

knowledge::Choice decided(const Selector& selector, const Case& asked) {
  const Decision decision = selector.decide(asked, {});
  if (decision.native()) return {};
  const Variant variant = selector.requirements().completed(decision.variant, asked);
  return {variant.algorithm().name, {{asked, variant}}};
}

// Decides on so many ranks, each on a node of its own.
struct Apart {
  Topology topology;
  Selector selector;

  static Topology apart(Rank ranks) {
    std::vector<std::int32_t> nodes;
    for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back(rank);
    return {ranks, {nodes}};
  }
  Apart(Rank ranks, const cost::Model& model)
      : topology(apart(ranks)), selector({}, {}, ranks, {.topology = &topology}) {
    selector.set_model(model);
  }
};

}  // namespace

Policy quadrille_policy(const cost::Model& model, std::int64_t slot_bytes) {
  const auto apart = std::make_shared<std::map<Rank, Apart>>();
  const auto choose = [apart, model](const Case& asked, const Requirements::Ground& ground) {
    if (!ground.topology) {
      return decided(apart->try_emplace(asked.ranks, asked.ranks, model).first->second.selector, asked);
    }
    Selector selector({}, {}, asked.ranks, ground);
    selector.set_model(model);
    return decided(selector, asked);
  };
  return {.name = std::string(knowledge::own_policy),
          .choose = choose,
          .knows_nodes = true,
          .slot_bytes = slot_bytes,
          .cores = model.cores};
}

Policy policy_of(const knowledge::Library& library) {
  return {.name = std::string(library.policy),
          .choose = [choose = library.choose](const Case& asked, const Requirements::Ground&) { return choose(asked); },
          .knows_nodes = library.knows_nodes};
}

Policy with(Policy policy, Collective collective, const Variant& variant) {
  policy.choose = [rest = std::move(policy.choose), collective, variant](const Case& asked,
                                                                         const Requirements::Ground& ground) {
    if (asked.collective != collective) return rest(asked, ground);
    return knowledge::Choice{variant.algorithm().name, {{asked, variant}}};
  };
  policy.knows_nodes = policy.knows_nodes || variant.algorithm().hierarchical;
  return policy;
}

}  // namespace quadrille::graph
