#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "select/table.hpp"

namespace quadrille::learn {

// What was found to be fastest for some sizes of a collective, and where.
struct Finding {
  Rule rule;        // a variant that is none: the MPI's own function is fastest
  std::string mpi;  // name and version
  Rank ranks = 0;
  std::int32_t nodes = 0;
  double seconds = 0;         // of a call by what is fastest; 0: unknown
  double native_seconds = 0;  // by the MPI's own function; 0: unknown
  std::int64_t calls = 0;     // that it was learned from
  std::string when = {};      // in UTC, as 2026-11-15T12:00:00Z; empty: nobody knows, before all others

  friend bool operator==(const Finding&, const Finding&) = default;
};

// Ordered by place, collective and size, and for each size the newest: of an older one what the newer ones leave. A
// time more than a day after `now` is a clock gone wrong, and counts as the oldest. The newest `most` are kept.
std::vector<Finding> merged(std::vector<Finding> all, const std::string& now, std::size_t most);

// As a tuning table and back. Collectives whose size is not known to all ranks have no rules: they are left out.
Table table_of(const std::vector<Finding>& findings);
std::vector<Finding> findings_in(const Table& table);

}  // namespace quadrille::learn
