#pragma once

#include <cstdint>
#include <string>

#include "verify/subject.hpp"

namespace quadrille::mutation {

// A second opinion on schedules, by another road than the proof's: it goes through all interleavings of a small
// subject, state by state, and looks whether anything can go wrong in any of them. It shares no code with verify/ but
// the subject itself, works on single units in place of ranges, and keeps no happens-before relation.
struct Opinion {
  enum class Kind : std::uint8_t { right, wrong, too_large } kind = Kind::right;
  std::string why;
  std::int64_t states = 0;
};

Opinion explore(const verify::Subject& subject, std::int64_t most_states);

}  // namespace quadrille::mutation
