#pragma once

#include <cstdint>
#include <vector>

#include "measure/report.hpp"
#include "select/table.hpp"

namespace quadrille::measure {

struct TuningOptions {
  double level = 0.05;  // the chance that any algorithm of a cell wins by luck
  double gain = 0.03;   // minimum gain of a winner
  // Also rules for the MPI's own function, where no algorithm wins, and with each rule the times, calls and the date:
  // what is remembered. Of several sizes the geometric mean of the times; that of a winner by its ratio to native's.
  bool to_remember = false;
};

// Derives a section of a tuning table. An algorithm wins at a size if the upper end of the confidence interval of its
// ratio to native, times what noise makes of it (see Noise::at), is below 1 - gain; of several winners, the one with
// the smallest ratio is used. Variants with the same schedule are one, the first, with the least favourable of their
// ratios. Between two neighbouring sizes the rule is for an algorithm that wins at both, with the smallest product of
// the two ratios. Where none wins at both, and below the smallest and above the largest size, there is no rule. `nodes`
// and `segment` are those of the measured communicator.
Section tuning_section(const Report& report, std::int32_t nodes, std::int64_t segment,
                       const TuningOptions& options = {});

// The collectives of a report, without duplicates.
std::vector<Collective> measured_collectives(const Report& report);

}  // namespace quadrille::measure
