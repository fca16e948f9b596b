#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "draw/plot.hpp"
#include "measure/report.hpp"

namespace quadrille::measure {

// A report and what to call it.
struct NamedReport {
  std::string name;
  Report report;
};

// "Open MPI 4.1.4, 8 ranks on 2 nodes"
std::string setting_of(const Provenance& from);

// What a plot shows: times, or the rate at which a call gets through its data, against sizes or numbers of ranks.
struct PlotOptions {
  enum class Against : std::uint8_t { sizes, ranks };
  Against against = Against::sizes;
  bool rates = false;
  std::vector<std::string> collectives = {};  // none: all
};

// A panel for each collective; against ranks for each size of it, with one point of a line from each report. Throws
// std::invalid_argument if one of the collectives is in none of the reports, if there is no size to make a rate of, or
// if several reports are of the same number of ranks.
draw::Plot plot_of(const std::vector<NamedReport>& reports, const PlotOptions& view);

}  // namespace quadrille::measure
