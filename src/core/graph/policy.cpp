#include "graph/policy.hpp"

#include <cctype>
#include <map>
#include <memory>
#include <utility>

#include "select/selector.hpp"
#include "topology/topology.hpp"

namespace quadrille::graph {

namespace {

// "Open MPI 4.1" as "openmpi-4.1".
std::string short_name(std::string_view library) {
  std::string name;
  for (std::size_t i = 0; i < library.size(); ++i) {
    const bool before_version = library[i] == ' ' && i + 1 < library.size() && std::isdigit(library[i + 1]) != 0;
    if (before_version) name += '-';
    if (library[i] != ' ') name += static_cast<char>(std::tolower(library[i]));
  }
  return name;
}

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
  return {"quadrille", [grounds, model](const Case& asked) {
            const Ground& ground = grounds->try_emplace(asked.ranks, asked.ranks, model).first->second;
            const Decision decision = ground.selector.decide(asked, {});
            if (decision.native()) return knowledge::Choice{};
            const Variant variant = ground.selector.requirements().completed(decision.variant, asked);
            return knowledge::Choice{variant.algorithm().name, {{asked, variant}}};
          }};
}

Policy policy_of(const knowledge::Library& library) {
  return {short_name(library.name), library.choose};
}

std::vector<std::string> library_policies() {
  std::vector<std::string> names;
  for (const knowledge::Library* one : knowledge::libraries()) names.push_back(short_name(one->name));
  return names;
}

std::vector<const knowledge::Library*> libraries_named(std::string_view policy) {
  std::vector<const knowledge::Library*> found;
  for (const knowledge::Library* one : knowledge::libraries()) {
    if (short_name(one->name) == policy) found.push_back(one);
  }
  return found;
}

std::string policy_for(std::string_view mpi) {
  const knowledge::Library* const library = knowledge::library_of(mpi);
  return library ? short_name(library->name) : "";
}

Policy with(Policy policy, Collective collective, const Variant& variant) {
  policy.choose = [rest = std::move(policy.choose), collective, variant](const Case& asked) {
    if (asked.collective != collective) return rest(asked);
    return knowledge::Choice{variant.algorithm().name, {{asked, variant}}};
  };
  return policy;
}

}  // namespace quadrille::graph
