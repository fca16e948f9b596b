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

std::optional<std::int64_t> bits_of(std::string_view text) {
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

// The number in "node3" or "3"; nothing: there is none, or it is not below `end`.
std::optional<int> numbered(std::string_view prefix, std::string_view text, int end) {
  const std::string_view number = text.substr(0, prefix.size()) == prefix ? text.substr(prefix.size()) : text;
  int value = -1;
  const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool good = error == std::errc() && rest == number.data() + number.size() && value >= 0 && value < end;
  return good ? std::optional(value) : std::nullopt;
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
  const auto rate = bits_of(text);
  refuse(!rate,
         fmt::format(
             "{}: '{}' is not a rate such as 200mbit: a number with bit, kbit, mbit or gbit, from 10kbit to 100gbit",
             option, text));
  return *rate;
}

void set_rate(Options& options, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    options.rate = parse_rate("--rate", text);
  } else {
    options.node_rates[node_of(text.substr(0, equals), options.nodes)] = parse_rate("--rate", text.substr(equals + 1));
  }
}

void set_uplink(Options& options, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    options.uplink = parse_rate("--uplink", text);
    return;
  }
  const std::optional<int> rack = numbered("rack", text.substr(0, equals), options.racks);
  refuse(!rack, options.racks == 0 ? "--uplink: there are no racks: set --racks"
                                   : fmt::format("--uplink: no rack '{}': the racks are rack0 to rack{}",
                                                 text.substr(0, equals), options.racks - 1));
  options.rack_uplinks[*rack] = parse_rate("--uplink", text.substr(equals + 1));
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
  const std::optional<int> node = numbered("node", text, nodes);
  refuse(!node, fmt::format("no node '{}': the nodes are node0 to {}", text, node_name(nodes - 1)));
  return *node;
}

std::int64_t rate_of(const Options& options, int node) {
  const auto own = options.node_rates.find(node);
  return own == options.node_rates.end() ? options.rate : own->second;
}

std::int64_t uplink_of(const Options& options, int rack) {
  const auto own = options.rack_uplinks.find(rack);
  return own == options.rack_uplinks.end() ? uplink_of(options) : own->second;
}

std::int64_t uplink_of(const Options& options) {
  if (options.racks == 0) return 0;
  return options.uplink > 0 ? options.uplink : options.rate;
}

int rack_of(const Options& options, int node) {
  return static_cast<int>(static_cast<std::int64_t>(node) * options.racks / options.nodes);
}

}  // namespace quadrille::cluster
