#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "measure/report.hpp"
#include "tools/program_arguments.hpp"

namespace quadrille::tools {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A program that measures, from its start to its end.
struct FinishedLaunch {
  int status = 0;
  int signal = 0;          // sent by the user
  bool timed_out = false;  // no further size was done in time
  std::string errors;
  std::vector<measure::Point> points;
  measure::Provenance provenance;

  bool good() const { return status == 0 && !timed_out; }
};

// Starts it, and ends it if its report does not change for too long, or on a signal.
FinishedLaunch launch_once(const Words& words, const std::filesystem::path& report, double timeout);

// Why it is not good, or has no results.
std::string reason(const FinishedLaunch& launch, double timeout);

}  // namespace quadrille::tools
