#include <fmt/format.h>

#include <utility>

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

std::string heat_maps_of_nodes(const std::vector<Placed>& placed, std::int32_t nodes) {
  std::vector<draw::HeatMap> maps;
  for (const Placed& one : placed) {
    draw::HeatMap map{.title = {one.heading, ""},
                      .size = nodes,
                      .cells = {},
                      .rows = "sending node",
                      .columns = "receiving node",
                      .what = "nodes"};
    std::int64_t crossing = 0;
    for (const auto& [from, row] : one.graph.rows()) {
      const std::int32_t source = one.node_of[static_cast<std::size_t>(from)];
      for (const auto& [to, traffic] : row) {
        const std::int32_t target = one.node_of[static_cast<std::size_t>(to)];
        map.cells.push_back({source, target, static_cast<double>(traffic.bytes)});
        if (source != target) crossing += traffic.bytes;
      }
    }
    map.title.subheading =
        fmt::format("{} of {} between nodes", text::about_bytes(crossing), text::about_bytes(one.graph.total().bytes));
    maps.push_back(std::move(map));
  }
  return draw::heat_maps(maps);
}

}  // namespace quadrille::breakdown
