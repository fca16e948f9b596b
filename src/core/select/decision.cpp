#include "select/decision.hpp"

#include <fmt/format.h>

namespace quadrille {

std::string text_of(const Reason& reason) {
  const std::string variant = reason.variant ? name_of(reason.variant) : "";
  switch (reason.kind) {
    case Reason::Kind::requested:
      return fmt::format("the call names {}", variant);
    case Reason::Kind::environment:
      return fmt::format("QUADRILLE_ALGORITHM names {}", variant);
    case Reason::Kind::rule:
      return fmt::format("the tuning table has {} for {} to {} bytes", variant, reason.first, reason.second);
    case Reason::Kind::price:
      return fmt::format("{} takes the least time by the model of the machine, {:.3g} us; the next one {:.3g} us",
                         variant, static_cast<double>(reason.first) / 1e3, static_cast<double>(reason.second) / 1e3);
    case Reason::Kind::usual:
      return fmt::format("{} is the rule of thumb", variant);
    case Reason::Kind::first_fitting:
      return fmt::format("{} is the first that keeps to the memory limit", variant);
    case Reason::Kind::no_rule:
      return fmt::format("the tuning table has no rule for {} bytes", reason.first);
    case Reason::Kind::restricted:
      return fmt::format("{} can't run this call", variant);
    case Reason::Kind::memory:
      return fmt::format("{} may take {} bytes a rank, and the limit is {}", variant, reason.first, reason.second);
  }
  return {};
}

}  // namespace quadrille
