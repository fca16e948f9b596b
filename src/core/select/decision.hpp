#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "algorithms/catalogue.hpp"

namespace quadrille {

// One step of a decision. Plain bytes; text_of shows it to a person.
struct Reason {
  enum class Kind : std::uint8_t {
    requested,      // the call names the variant
    environment,    // QUADRILLE_ALGORITHM names it
    rule,           // a tuning table has it, or the MPI's own, for a range of bytes: first to second
    price,          // it takes the least time by the model of the machine, in ns: first; the next one second
    faster,         // by that model it takes less than the MPI's own function does at least, in ns: first and second
    native_price,   // the same, but not so much less that it is clear
    usual,          // the rules of thumb name it
    first_fitting,  // the first of the catalogue that can run the case within the memory limit
    no_rule,        // the tuning table has none for so many bytes: first
    restricted,     // the variant can't run the case
    memory,         // the variant may take more bytes than the limit: first and second
  };
  Kind kind = Kind::usual;
  Variant variant = {};
  std::int64_t first = 0;
  std::int64_t second = 0;

  friend bool operator==(const Reason&, const Reason&) = default;
};
std::string text_of(const Reason& reason);

// Which variant runs a call, or that the MPI's own function does, and why: the reasons in the order they were met, the
// last one decisive. Plain bytes; every rank comes to the same.
class Decision {
 public:
  Variant variant = {};     // none: the MPI's own function
  std::int64_t needed = 0;  // bytes that it may take on any rank, where memory is limited
  bool fits = true;         // within the limit

  bool native() const { return !variant; }
  std::span<const Reason> reasons() const { return {reasons_.data(), count_}; }
  // Where the decision came from.
  Reason::Kind source() const { return reasons_[count_ == 0 ? 0 : count_ - 1].kind; }

  // The first few are kept, and the last.
  void add(const Reason& reason) {
    if (count_ < reasons_.size()) ++count_;
    reasons_[count_ - 1] = reason;
  }

  friend bool operator==(const Decision&, const Decision&) = default;

 private:
  std::array<Reason, 4> reasons_ = {};
  std::uint32_t count_ = 0;
};

}  // namespace quadrille
