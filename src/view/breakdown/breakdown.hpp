#pragma once

#include <string>

#include "graph/graph.hpp"
#include "trace/trace.hpp"

// Where the time of a traced program went, and what it asked MPI for.
namespace quadrille::breakdown {

// Which of the two a matrix has in its squares.
enum class Measure { bytes, messages };

// A heat map of who sends how much to whom. The total is what its subheading says.
std::string heat_map(const graph::Graph& graph, const graph::Traffic& total, const std::string& heading,
                     Measure measure);

std::string to_text(const trace::Trace& trace);
std::string to_json(const trace::Trace& trace);
std::string to_html(const trace::Trace& trace);

}  // namespace quadrille::breakdown
