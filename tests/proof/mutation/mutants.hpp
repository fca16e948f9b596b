#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string_view>

#include "verify/subject.hpp"

namespace quadrille::mutation {

// Mutations of one rank's schedule, or of where it is.
enum class Damage : std::uint8_t {
  lost_operation,
  other_peer,
  other_offset,
  other_length,
  other_block,
  other_buffer,
  other_channel,
  lost_dependency,
  weaker_dependency,  // posted instead of complete, or a later iteration
  swapped_messages,
  swapped_operands,
  too_little_scratch,
  slot_reused_early,  // waits for less
  announced_early,    // a publish or notify that does not depend on the data
  lost_flush,
  other_counter_value,
  other_loop_length,
  other_loop_window,
  repeated_operation,
  other_owner,  // of a slot
  other_node,   // of a rank
  lost_signal,
  repeated_signal,
  misdirected_signal,
  touched_early,  // what waited for a notice does so no longer
  lost_notice,    // or deposit
};
inline constexpr int damages = 26;
std::string_view name(Damage damage);

// Mutates one rank's schedule at a random place; false if the mutation is not applicable.
bool inflict(Damage damage, verify::Subject& subject, std::mt19937_64& random);

}  // namespace quadrille::mutation
