#pragma once

#include <string>

#include "verify/execution.hpp"

namespace quadrille::verify {

// Errors in the order of events, found in the happens-before relation; empty if there are none.

// Conflicting accesses of a rank's own memory that are not ordered by its own dependencies.
std::string race_on_own_memory(const Subject& subject, const Execution& execution);

// Messages of one stream whose posting order is not determined.
std::string unordered_stream(const Subject& subject, const Execution& execution);

// Counters with two writers, or that could decrease; boxes with two deposits; conflicting accesses to slots, boxes,
// staging and output in windows that are not ordered by messages, counters and notifications.
std::string race_on_slots(const Subject& subject, const Execution& execution);

// Ranks that can end before another has begun.
std::string missing_synchronisation(const Subject& subject, const Execution& execution);

}  // namespace quadrille::verify
