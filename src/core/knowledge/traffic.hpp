#pragma once

#include <cstdint>
#include <map>

#include "schedule/schedule.hpp"

namespace quadrille::knowledge {

// Messages that a rank sends to another, and their bytes.
struct Traffic {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// By destination. `unit_bytes` are those of an element, if units are elements. Signals are messages of 0 bytes.
std::map<Rank, Traffic> sent_by(const Schedule& schedule, std::int64_t unit_bytes);

}  // namespace quadrille::knowledge
