#include "hosts/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace quadrille::hosts {

namespace {

constexpr int most_slots = 1 << 20;

std::optional<int> positive(std::string_view text) {
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = error == std::errc() && rest == text.data() + text.size() && number >= 1 && number <= most_slots;
  return good ? std::optional(number) : std::nullopt;
}

// "node0:4", or "node0" and what follows it.
std::optional<Host> host_of(const std::string& name, std::istringstream& rest) {
  const std::size_t colon = name.find(':');
  Host host{name.substr(0, colon)};
  if (host.name.empty()) return std::nullopt;
  std::optional<int> slots = colon == std::string::npos ? 1 : positive(std::string_view(name).substr(colon + 1));
  for (std::string word; slots && rest >> word;) {
    if (word.starts_with("slots=")) slots = positive(std::string_view(word).substr(6));
  }
  if (!slots) return std::nullopt;
  host.slots = *slots;
  return host;
}

}  // namespace

std::vector<Host> parse_hosts(std::string_view text, const std::string& file) {
  std::vector<Host> all;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    if (!(words >> name)) continue;
    const std::optional<Host> host = host_of(name, words);
    if (!host) {
      throw std::invalid_argument(
          fmt::format("{}:{}: '{}': expected a host and its slots, as node0 slots=4 or node0:4", file, number, line));
    }
    const auto same = std::find_if(all.begin(), all.end(), [&](const Host& one) { return one.name == host->name; });
    if (same == all.end()) {
      all.push_back(*host);
    } else {
      same->slots += host->slots;
    }
  }
  if (all.empty()) throw std::invalid_argument(fmt::format("{}: no hosts in it: write one per line", file));
  return all;
}

std::vector<Host> numbered_hosts(std::string_view text) {
  const std::size_t times = text.find('x');
  if (times == std::string_view::npos) return {};
  const auto nodes = positive(text.substr(0, times));
  const auto slots = positive(text.substr(times + 1));
  std::vector<Host> all;
  if (!nodes || !slots) return all;
  for (int node = 0; node < *nodes; ++node) all.push_back({fmt::format("node{}", node), *slots});
  return all;
}

bool same_host(std::string_view one, std::string_view other) {
  if (one == other) return true;
  const bool both_have_domains = one.find('.') != std::string_view::npos && other.find('.') != std::string_view::npos;
  return !both_have_domains && one.substr(0, one.find('.')) == other.substr(0, other.find('.'));
}

}  // namespace quadrille::hosts
