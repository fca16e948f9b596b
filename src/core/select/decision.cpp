#include "select/decision.hpp"

#include <fmt/format.h>

#include "text/quantities.hpp"

namespace quadrille {

namespace {

std::string time_of(std::int64_t nanoseconds) {
  return text::seconds(static_cast<double>(nanoseconds) * 1e-9);
}

}  // namespace

std::string text_of(const Reason& reason) {
  const std::string variant = reason.variant ? name_of(reason.variant) : "";
  switch (reason.kind) {
    case Reason::Kind::requested:
      return fmt::format("the call names {}", variant);
    case Reason::Kind::environment:
      return fmt::format("QUADRILLE_ALGORITHM names {}", variant);
    case Reason::Kind::rule:
      return fmt::format("the tuning table has {} for {} to {} bytes",
                         reason.variant ? variant : "the MPI's own function", reason.first, reason.second);
    case Reason::Kind::price:
      return fmt::format("{} takes the least time by the model of the machine, {}; the next one {}", variant,
                         time_of(reason.first), time_of(reason.second));
    case Reason::Kind::faster:
      return fmt::format("{} takes {} by the model of the machine, the MPI's own {} or more", variant,
                         time_of(reason.first), time_of(reason.second));
    case Reason::Kind::native_price:
      return fmt::format(
          "by the model of the machine the MPI's own takes {} or more, which {} of ours do not clearly beat",
          time_of(reason.second), time_of(reason.first));
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
