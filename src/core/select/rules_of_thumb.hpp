#pragma once

#include <cstdint>

#include "algorithms/algorithm.hpp"
#include "select/case.hpp"

namespace quadrille {

// The algorithm to use where nothing is known of the machine; `segment` is in bytes. It may not be able to run the case
// (see refusal).
const Algorithm& usual_algorithm(const Case& asked, std::int64_t segment);

// The same for data that lies in windows. `box` is how many bytes can be deposited in a rank's window that has handed
// its range over, whatever it does meanwhile; `shares_memory`: the ranks of a node do.
struct Windows {
  std::int64_t box = 0;
  bool shares_memory = false;
};
const Algorithm& usual_one_sided(const Case& asked, std::int64_t segment, const Windows& windows);

}  // namespace quadrille
