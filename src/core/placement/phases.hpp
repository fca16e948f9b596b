#pragma once

#include <vector>

#include "graph/decompose.hpp"
#include "placement/load.hpp"

namespace quadrille::placement {

// The messages of a program as one phase, and each kind of its collectives as another; the smallest of more than some
// are one.
std::vector<Phase> phases_of(const graph::Decomposed& sent);

std::vector<Sent> sent_of(const graph::Graph& graph);

}  // namespace quadrille::placement
