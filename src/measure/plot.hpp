#pragma once

#include <string>
#include <vector>

#include "draw/plot.hpp"
#include "measure/report.hpp"

namespace quadrille::measure {

// A report and what to call it.
struct Named {
  std::string name;
  Report report;
};

// "Open MPI 4.1.4, 8 ranks on 2 nodes"
std::string setting_of(const Provenance& from);

// Times against sizes, a panel for each collective; of the named ones, or of all. Throws std::invalid_argument if one
// of them is in none of the reports.
draw::Plot plot_of(const std::vector<Named>& reports, const std::vector<std::string>& collectives);

}  // namespace quadrille::measure
