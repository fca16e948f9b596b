#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "graph/policy.hpp"
#include "trace/trace.hpp"

namespace quadrille::graph {

// Collective calls whose messages are not known, and why.
struct Omitted {
  std::string collective;
  std::int64_t calls = 0;
  std::string why;
};

// What a program sends: its own messages, and those that its collectives become.
struct Decomposed {
  Graph messages;
  Graph collectives;
  std::vector<Omitted> omitted = {};
};

// The messages of one call, by ranks of its communicator. Throws std::invalid_argument if the policy doesn't know them.
Graph graph_of(const Case& asked, const Policy& policy);

// Messages to another world are left out.
Decomposed decompose(const trace::Trace& trace, const Policy& policy);

}  // namespace quadrille::graph
