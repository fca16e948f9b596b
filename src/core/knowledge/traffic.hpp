#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "schedule/schedule.hpp"

namespace quadrille::knowledge {

// Messages that a rank sends to another, and their bytes.
struct Traffic {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// The units of a block that has its own size (of v and w collectives).
using UnitsOf = std::function<std::int64_t(const Region& block)>;

// By destination. Signals are messages of 0 bytes.
std::map<Rank, Traffic> sent_by(const Schedule& schedule, std::int64_t unit_bytes, const UnitsOf& units_of = {});

}  // namespace quadrille::knowledge
