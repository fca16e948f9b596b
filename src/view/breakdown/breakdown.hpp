#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "trace/trace.hpp"

// Where the time of a traced program went, and what it asked MPI for.
namespace quadrille::breakdown {

// Which of the two a matrix has in its squares.
enum class Measure { bytes, messages };

// A heat map of who sends how much to whom. The total is what its subheading says.
std::string heat_map(const graph::Graph& graph, const graph::Traffic& total, const std::string& heading,
                     Measure measure);

// What nodes send to each other, and their ranks among themselves, before and after ranks were placed anew. The node of
// each rank of the graph.
struct Placed {
  std::string heading;
  graph::Graph graph;
  std::vector<std::int32_t> node_of;
};
std::string heat_maps_of_nodes(const std::vector<Placed>& placed, std::int32_t nodes);

std::string to_text(const trace::Trace& trace);
std::string to_json(const trace::Trace& trace);
std::string to_html(const trace::Trace& trace);

}  // namespace quadrille::breakdown
