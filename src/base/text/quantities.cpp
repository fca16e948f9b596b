#include "text/quantities.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

namespace quadrille::text {

namespace {

constexpr std::array<std::string_view, 5> byte_units = {"B", "KiB", "MiB", "GiB", "TiB"};

struct Scaled {
  double value = 0;
  std::string_view unit;
};

// Scales a number of the first unit to the one that fits; each is 1000 times the previous one.
Scaled in_thousands(double value, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  // What would round to 1000 is 1.00 of the next unit.
  while (unit + 1 < units.size() && std::abs(value) >= 999.5) {
    value /= 1000;
    ++unit;
  }
  return {value, units[unit]};
}

Scaled scaled(double seconds) {
  constexpr std::array<std::string_view, 4> units = {"ns", "µs", "ms", "s"};
  return in_thousands(seconds * 1e9, units);
}

int decimals(double value) {
  const double size = std::abs(value);
  return size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

std::string without_noughts(const Scaled& number) {
  const double power = std::pow(10, decimals(number.value));
  return fmt::format("{:.10g} {}", std::round(number.value * power) / power, number.unit);
}

}  // namespace

std::string bytes(std::int64_t bytes) {
  std::size_t unit = 0;
  while (unit + 1 < byte_units.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, byte_units[unit]);
}

std::string about_bytes(std::int64_t bytes) {
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < byte_units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, byte_units[unit]);
}

std::string count(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string share(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 0.05) return "< 0.1 %";
  if (percent >= 99.95 && percent < 100) return "> 99.9 %";
  const bool near_end = (percent > 0 && percent < 9.95) || (percent >= 99.5 && percent < 100);
  return fmt::format("{:.{}f} %", percent, near_end ? 1 : 0);
}

std::string seconds(double seconds) {
  const auto [value, unit] = scaled(seconds);
  return fmt::format("{:.{}f} {}", value, decimals(value), unit);
}

std::string short_seconds(double seconds) {
  return without_noughts(scaled(seconds));
}

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  const bool hours = whole >= 3600;
  const std::int64_t unit = hours ? 3600 : 60;
  const std::int64_t rest = whole % unit / (hours ? 60 : 1);
  const std::string large = fmt::format("{} {}", whole / unit, hours ? "h" : "min");
  return rest == 0 ? large : fmt::format("{} {} {}", large, rest, hours ? "min" : "s");
}

std::string rate(double bytes_a_second) {
  constexpr std::array<std::string_view, 5> units = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return without_noughts(in_thousands(bytes_a_second, units));
}

std::string utc(std::time_t when) {
  std::tm parts = {};
  gmtime_r(&when, &parts);
  std::array<char, 32> text = {};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string utc_now() {
  return utc(std::time(nullptr));
}

}  // namespace quadrille::text
