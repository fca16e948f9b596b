#include "run/text.hpp"

namespace quadrille {

std::string to_text(const Schedule& schedule, Token token) {
  std::string text = to_text(schedule, token.operation);
  if (token.iteration > 0) text.append(", iteration ").append(std::to_string(token.iteration));
  return text;
}

}  // namespace quadrille
