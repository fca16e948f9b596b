#include "cluster/cut.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string>

#include "cluster/enter.hpp"
#include "cluster/network.hpp"

namespace quadrille::cluster {

void set_cut(const State& state, int node, bool cut) {
  query_cluster(state, [node, cut] {
    set_link(switch_end(node), !cut);
    return std::string();
  });
}

std::vector<int> cut_nodes(const State& state) {
  std::istringstream answer(query_cluster(state, [&state] {
    std::string down;
    for (int node = 0; node < state.options.nodes; ++node) {
      if (!link_is_up(switch_end(node))) down += fmt::format("{} ", node);
    }
    return down;
  }));
  std::vector<int> nodes;
  for (int node = 0; answer >> node;) nodes.push_back(node);
  return nodes;
}

}  // namespace quadrille::cluster
