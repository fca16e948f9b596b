#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "breakdown/breakdown.hpp"
#include "breakdown/rows.hpp"
#include "page/page.hpp"
#include "text/quantities.hpp"

namespace quadrille::breakdown {

namespace {

using page::Bar;
using page::Bars;
using page::Cell;
using page::Colour;
using page::Table;

constexpr Colour nothing = {-2};
constexpr auto numeric = page::Column::Kind::number;

std::string seconds_text(double seconds) {
  return seconds == 0 ? "0 s" : text::seconds(seconds);
}

// As long as the whole run, also if a rank came later.
Bar bar_of(const trace::RankTimes& times, std::string label, double wall) {
  Bar bar{std::move(label), {}};
  const auto add = [&](std::string_view name, double seconds, Colour colour) {
    bar.parts.push_back({std::string(name), seconds,
                         fmt::format("{} · {}", seconds_text(seconds), text::share(wall > 0 ? seconds / wall : 0)),
                         colour});
  };
  for (std::size_t i = 0; i < trace::activities; ++i) {
    add(trace::activity_names[i], times.spent[i], {static_cast<int>(i)});
  }
  add("outside of traced calls", std::max(0.0, wall - times.inside()), nothing);
  bar.text = text::share(wall > 0 ? times.inside() / wall : 0);
  return bar;
}

// The mean of all ranks, and the ranks with the least and the most time in MPI.
Bars whole_run(const trace::Trace& trace) {
  const double wall = trace.wall_seconds();
  Bars bars;
  trace::RankTimes mean;
  for (std::size_t i = 0; i < trace::activities; ++i) mean.spent[i] = trace.mean(static_cast<trace::Activity>(i));
  bars.bars.push_back(bar_of(mean, "mean of the ranks", wall));
  const auto less = [](const auto& a, const auto& b) { return a.second.inside() < b.second.inside(); };
  const auto [least, most] = std::minmax_element(trace.times.begin(), trace.times.end(), less);
  if (trace.times.size() > 1) {
    bars.bars.push_back(bar_of(least->second, fmt::format("rank {}, the least in MPI", least->first), wall));
    bars.bars.push_back(bar_of(most->second, fmt::format("rank {}, the most", most->first), wall));
  }
  bars.full = wall;
  for (std::size_t i = 0; i < trace::activities; ++i) {
    bars.legend.emplace_back(std::string(trace::activity_names[i]), Colour{static_cast<int>(i)});
  }
  bars.legend.emplace_back("outside of traced calls", nothing);
  return bars;
}

Cell number(std::string text, double value) {
  return {std::move(text), value};
}

Table all_calls(const trace::Trace& trace) {
  Table table;
  table.columns = {{"Collective"},
                   {"Size", {}, "of a rank's data or block"},
                   {"Communicator", page::Column::Kind::name, "by ranks of MPI_COMM_WORLD"},
                   {"Calls", numeric, "of all ranks"},
                   {"Data", numeric, "of all ranks"},
                   {"Time", numeric, "mean of all ranks"},
                   {"Slowest rank", numeric, "the longest time of any rank, at most"}};
  const bool met = trace.waited() > 0;
  if (met) table.columns.push_back({"Waits for late ranks", numeric, "before the calls, mean of all ranks"});
  table.sorted = 5;
  table.where_rest = "They are in the trace.";
  for (const Row& row : by_kind(trace)) {
    table.rows.push_back({{row.collective},
                          {row.size},
                          {row.communicator},
                          number(text::count(row.calls), static_cast<double>(row.calls)),
                          number(text::about_bytes(row.bytes), static_cast<double>(row.bytes)),
                          number(seconds_text(row.mean_seconds), row.mean_seconds),
                          number(seconds_text(row.longest), row.longest)});
    if (met) table.rows.back().push_back(number(seconds_text(row.mean_waited), row.mean_waited));
  }
  return table;
}

graph::Graph messages_of(const trace::Trace& trace) {
  graph::Graph graph(trace.ranks);
  for (const auto& [from, row] : trace.messages) {
    for (const auto& [to, traffic] : row) {
      if (to != trace::another_world) graph.add(from, to, traffic);
    }
  }
  return graph;
}

}  // namespace

std::string to_html(const trace::Trace& trace) {
  const std::string program = trace.program.substr(0, trace.program.find(' '));
  const std::string title =
      program.empty() ? "Trace of an MPI program" : fmt::format("Trace of {}", program.substr(program.rfind('/') + 1));
  std::vector<std::string> facts = {fmt::format("{} ranks", trace.ranks)};
  for (const std::string* fact : {&trace.program, &trace.mpi, &trace.host, &trace.date}) {
    if (!fact->empty()) facts.push_back(*fact);
  }
  page::Page page(title, facts);
  const trace::Traffic sent = trace::sum_of(trace.messages);
  const double wall = trace.wall_seconds();
  page.tiles({{"Run", seconds_text(wall), "MPI_Init to MPI_Finalize"},
              {"Outside of traced calls", text::share(wall > 0 ? trace.mean_outside() / wall : 0),
               fmt::format("{}, mean of the ranks", seconds_text(trace.mean_outside()))},
              {"Messages", text::count(sent.messages), text::about_bytes(sent.bytes)},
              {"Collective calls", text::count(trace.calls()), "of all ranks"}});
  page.section("Where the time went").bars(whole_run(trace));
  if (!trace.collectives.empty()) page.section("Collective calls").table(all_calls(trace));
  if (sent.messages > 0) {
    page.section("Who sends to whom")
        .drawing(heat_map(messages_of(trace), sent, "Messages of the program", Measure::bytes),
                 "The program's own messages, without those that collectives become");
  }
  page.footer("By quadrille trace show.");
  return page.html();
}

}  // namespace quadrille::breakdown
