#include "cluster/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <stdexcept>

namespace quadrille::cluster {

namespace {

constexpr int most_nodes = 1000;  // a Linux bridge has 1024 ports
constexpr int most_slots = 1024;
constexpr std::int64_t least_rate = 10'000;
constexpr std::int64_t most_rate = 100'000'000'000;

struct Unit {
  std::string_view name;
  std::string_view text;
  double bits;
};
constexpr std::array<Unit, 4> units = {
    {{"gbit", "Gbit/s", 1e9}, {"mbit", "Mbit/s", 1e6}, {"kbit", "kbit/s", 1e3}, {"bit", "bit/s", 1}}};

std::optional<std::int64_t> rate_of(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  std::string unit(rest, text.data() + text.size());
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Unit& one : units) {
    const double bits = number * one.bits;
    const bool possible = bits >= static_cast<double>(least_rate) && bits <= static_cast<double>(most_rate);
    if (unit == one.name && possible) return static_cast<std::int64_t>(bits);
  }
  return std::nullopt;
}

}  // namespace

void refuse(bool condition, const std::string& why) {
  if (condition) throw std::invalid_argument(why);
}

void check_name(const std::string& name) {
  constexpr std::size_t longest = 64;
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  const bool good = !name.empty() && name.size() <= longest && name.front() != '.' && name.front() != '-' &&
                    std::all_of(name.begin(), name.end(), fits);
  refuse(!good, fmt::format("--name: '{}' is not a valid name: use up to {} letters, digits, '-', '_' and '.'", name,
                            longest));
}

void check(const Options& options) {
  check_name(options.name);
  refuse(options.nodes < 1 || options.nodes > most_nodes,
         fmt::format("--nodes: {} is not between 1 and {}", options.nodes, most_nodes));
  refuse(options.slots < 1 || options.slots > most_slots,
         fmt::format("--slots: {} is not between 1 and {}", options.slots, most_slots));
  refuse(options.racks < 0 || options.racks > options.nodes,
         fmt::format("--racks: {} is not between 0 and {}, the number of nodes", options.racks, options.nodes));
  refuse(options.uplink != 0 && options.racks == 0, "--uplink: there are no racks: set --racks");
}

std::int64_t parse_rate(std::string_view option, std::string_view text) {
  const auto rate = rate_of(text);
  refuse(!rate,
         fmt::format(
             "{}: '{}' is not a rate such as 200mbit: a number with bit, kbit, mbit or gbit, from 10kbit to 100gbit",
             option, text));
  return *rate;
}

std::string rate_text(std::int64_t rate) {
  for (const Unit& one : units) {
    const double number = static_cast<double>(rate) / one.bits;
    if (number >= 1) return fmt::format("{:g} {}", number, one.text);
  }
  return "0 bit/s";
}

std::string node_name(int node) {
  return fmt::format("node{}", node);
}

int node_of(std::string_view text, int nodes) {
  constexpr std::string_view prefix = "node";
  const std::string_view number = text.substr(0, prefix.size()) == prefix ? text.substr(prefix.size()) : text;
  int node = -1;
  const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), node);
  const bool good = error == std::errc() && rest == number.data() + number.size() && node >= 0 && node < nodes;
  refuse(!good, fmt::format("no node '{}': the nodes are node0 to {}", text, node_name(nodes - 1)));
  return node;
}

std::int64_t uplink_of(const Options& options) {
  if (options.racks == 0) return 0;
  return options.uplink > 0 ? options.uplink : options.rate;
}

int rack_of(const Options& options, int node) {
  return static_cast<int>(static_cast<std::int64_t>(node) * options.racks / options.nodes);
}

}  // namespace quadrille::cluster
