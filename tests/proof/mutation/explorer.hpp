#pragma once

#include <cstdint>
#include <string>

#include "verify/subject.hpp"

namespace quadrille::mutation {

// An independent check of schedules: explores all interleavings of a small subject, state by state, for errors. It
// shares no code with verify/ except the subject, works on single units instead of ranges, and uses no happens-before
// relation.
struct Opinion {
  enum class Kind : std::uint8_t { right, wrong, too_large } kind = Kind::right;
  std::string why;
  std::int64_t states = 0;
};

Opinion explore(const verify::Subject& subject, std::int64_t most_states);

}  // namespace quadrille::mutation
