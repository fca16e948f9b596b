#pragma once

#include <vector>

#include "cluster/state.hpp"

namespace quadrille::cluster {

// Takes a node's link to the switch down, or up again.
void set_cut(const State& state, int node, bool cut);

std::vector<int> cut_nodes(const State& state);

}  // namespace quadrille::cluster
