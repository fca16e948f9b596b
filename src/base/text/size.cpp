#include "text/size.hpp"

#include <cctype>
#include <charconv>
#include <limits>
#include <string>

namespace quadrille::text {

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  std::int64_t number = -1;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string unit;
  for (const char letter : text.substr(static_cast<std::size_t>(rest - text.data()))) {
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  if (unit.starts_with(' ') && unit.size() > 1) unit.erase(0, 1);
  if (unit.empty() || unit == "b") return number;
  const std::size_t power = std::string_view("kmgt").find(unit.front());
  const std::string end = unit.substr(1);
  if (power == std::string_view::npos || (!end.empty() && end != "b" && end != "ib")) return std::nullopt;
  const std::size_t bits = 10 * (power + 1);
  if (number > std::numeric_limits<std::int64_t>::max() >> bits) return std::nullopt;
  return number << bits;
}

}  // namespace quadrille::text
