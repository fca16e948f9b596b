#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "graph/policy.hpp"
#include "topology/places.hpp"
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
  // All calls of one kind, on communicators without a rank in common: they are under way together.
  std::vector<Graph> phases = {};
  std::vector<Omitted> omitted = {};

  Graph collectives() const;
};

// The messages of one call, by ranks of its communicator. Throws std::invalid_argument if the policy doesn't know them.
// Places are those of the ranks; none: each is on a node of its own.
Graph graph_of(const Case& asked, const Policy& policy, std::span<const Place> places = {});

// Messages to another world are left out. Places are those of the world's ranks; none: as above.
Decomposed decompose(const trace::Trace& trace, const Policy& policy, std::span<const Place> places = {});

// What sends: a program that was traced, or a pattern.
struct Source {
  std::string title;
  std::string policy;  // empty: it has no collectives
  Rank ranks = 0;
  bool knows_nodes = false;  // whether what is sent depends on the places
  std::function<Decomposed(std::span<const Place> places)> sent;
};

}  // namespace quadrille::graph
