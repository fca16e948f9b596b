#include <fmt/format.h>

#include "breakdown/breakdown.hpp"
#include "draw/heat_map.hpp"
#include "text/quantities.hpp"

namespace quadrille::breakdown {

std::string heat_map(const graph::Graph& graph, const graph::Traffic& total, const std::string& heading,
                     Measure measure) {
  draw::HeatMap map{.title = {heading, fmt::format("{} ranks, {} messages, {}", text::count(graph.ranks()),
                                                   text::count(total.messages), text::about_bytes(total.bytes))},
                    .size = graph.ranks(),
                    .cells = {},
                    .unit = measure == Measure::bytes ? draw::HeatMap::Unit::bytes : draw::HeatMap::Unit::messages};
  for (const auto& [from, row] : graph.rows()) {
    for (const auto& [to, traffic] : row) {
      map.cells.push_back(
          {from, to, static_cast<double>(measure == Measure::bytes ? traffic.bytes : traffic.messages)});
    }
  }
  return draw::heat_map(map);
}

}  // namespace quadrille::breakdown
