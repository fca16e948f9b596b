#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "draw/plot.hpp"
#include "measure/report.hpp"

namespace quadrille::measure {

// A report and its name.
struct NamedReport {
  std::string name;
  Report report;
};

// "Open MPI 4.1.4, 8 ranks on 2 nodes"
std::string setting_of(const Provenance& from);

// What a plot shows: times, rates, ratios to the MPI's own call, or times with the ratios beside them, against sizes or
// numbers of ranks.
struct PlotOptions {
  enum class Against : std::uint8_t { sizes, ranks };
  Against against = Against::sizes;
  enum class Value : std::uint8_t { times, rates, ratios, times_and_ratios };
  Value value = Value::times;
  std::vector<std::string> collectives = {};  // none: all
};

// A panel for each collective; against ranks, for each collective and size, with each report as one point of every
// line. Throws std::invalid_argument if a collective is in none of the reports, if rates or ratios are requested
// but no call has any, or, against ranks, if several reports have the same number of ranks.
// With both times and ratios, a report that has no ratios is plotted without them.
draw::Plot plot_of(const std::vector<NamedReport>& reports, const PlotOptions& view);

}  // namespace quadrille::measure
