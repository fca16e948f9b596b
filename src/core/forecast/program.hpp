#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "trace/trace.hpp"

namespace quadrille::forecast {

// Calls of one kind on communicators that lie alike on nodes.
struct TracedCalls {
  Case asked;
  bool equal_blocks = false;  // blocks of different sizes, which the trace doesn't tell apart, taken as equal ones
  std::int64_t calls = 0;     // of a rank that makes them, on all such communicators together
  double rank_calls = 0;      // the same of a mean rank of the program
  double traced = 0;          // seconds of a mean rank
  Point point = {};           // a call elsewhere
};

// A program's time in collectives elsewhere. Times are those of a mean rank.
struct TracedProgram {
  std::vector<TracedCalls> calls;  // those with the most traced time first
  double traced = 0;
  double fastest = 0;  // each call by what is the fastest for it
  struct Total {
    double seconds = 0;
    std::int64_t unknown = 0;  // calls that are not in it
  };
  std::map<std::string, Total> policies;
  std::map<std::string, std::int64_t> omitted;  // calls, by why they have no time
};

// Ranks of the program lie in blocks on nodes, as the options' place says. Calls begin together on all ranks here: what
// ranks that were late made others wait is in the traced time alone.
TracedProgram estimate(const trace::Trace& trace, const Settings& settings, const Options& options);

}  // namespace quadrille::forecast
