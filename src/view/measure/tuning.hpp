#pragma once

#include <cstdint>
#include <vector>

#include "measure/report.hpp"
#include "select/table.hpp"

namespace quadrille::measure {

struct TuningOptions {
  double level = 0.05;  // the chance that one of a cell's algorithms is taken for a winner by luck
  double gain = 0.03;   // what a winner gains at least
};

// Where our algorithms are faster than native, as rules. An algorithm wins at a size if its ratio to native, at the
// upper end of the interval, is below 1 - gain; of those that do, the one with the smallest ratio serves it. Between
// two neighbouring sizes an algorithm serves if it wins at both, the one with the smallest product of the two ratios;
// if none does, nothing serves there, nor below the least size or above the greatest. `nodes` and `segment` are those
// of the communicator that was measured.
Section tuning_section(const Report& report, std::int32_t nodes, std::int64_t segment,
                       const TuningOptions& options = {});

// The collectives of a report, each once.
std::vector<Collective> measured_collectives(const Report& report);

}  // namespace quadrille::measure
