#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "cost/map.hpp"
#include "cost/model.hpp"
#include "cost/price.hpp"
#include "select/case.hpp"
#include "select/requirements.hpp"

namespace quadrille {

// A variant, and the time it takes by the model of the machine.
struct Priced {
  Variant variant;
  double seconds = 0;
  double in_a_row = 0;  // of one of many calls: see cost::Seconds
};

// Stands for all cases that have one ranking: sizes up to a quarter larger, any root, any of MPI's operations.
Case representative(const Case& asked);
// The sizes that a representative stands for; see Case::bytes.
struct Sizes {
  std::int64_t from = 0;
  std::int64_t to = 0;  // the last
};
Sizes sizes_of(const Case& one);

class Prices;

// What the MPI's own function takes for a case, in seconds, by what is known of the MPI; none: it is not known.
using NativePrice = std::function<std::optional<double>(const Case& asked, Prices& prices)>;

// The variants that can run a case by their prices: all algorithms with their default widths, those that pipeline with
// several segments. A ranking is kept for all cases of one representative, so that a program whose calls all differ
// pays for few. Not thread-safe.
class Prices {
 public:
  // `segment` is the default of the segments that are tried. `native` may be empty.
  Prices(const cost::Model& model, const Requirements& requirements, std::int64_t segment, NativePrice native = {});

  struct Ranking {
    std::vector<Priced> variants;  // the quickest first
    double native = 0;             // what the MPI's own function takes at least
    bool native_known = false;     // by what it sends; else it is a guess
  };
  // Valid until the next call.
  const Ranking& ranking(const Case& asked);
  double price(const Variant& variant, const Case& asked);
  // Of the same messages inside an MPI, at their cost alone.
  double price_in_mpi(const Variant& variant, const Case& asked);

 private:
  struct Known {
    bool known = false;
    Case asked;
    Ranking ranking;
  };
  void rank(const Case& asked, Ranking& ranking);
  void rank_native(const Case& asked, Ranking& ranking);
  cost::Seconds price(const Variant& variant, const Case& asked, const cost::Model& model);

  cost::Model model_;
  cost::Model of_mpi_;  // the same without what only schedules cost
  Requirements requirements_;
  std::int64_t segment_;
  NativePrice native_;
  cost::Map map_;
  std::vector<Known> known_ = std::vector<Known>(256);
};

}  // namespace quadrille
