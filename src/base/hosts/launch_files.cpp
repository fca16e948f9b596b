#include "hosts/launch_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "hosts/hosts.hpp"

namespace quadrille::hosts {

namespace {

// Consecutive ranks on one host.
std::vector<Host> runs_of(std::span<const std::string> host_of_rank) {
  std::vector<Host> runs;
  for (const std::string& host : host_of_rank) {
    if (!runs.empty() && runs.back().name == host) {
      ++runs.back().slots;
    } else {
      runs.push_back({host, 1});
    }
  }
  return runs;
}

std::string text_of(std::span<const Host> runs) {
  std::string text;
  for (const Host& one : runs) text += fmt::format("{}:{}\n", one.name, one.slots);
  return text;
}

// The lines after which Hydra can begin anew; all of them if it can't.
std::size_t lines_of_a_turn(std::span<const Host> runs) {
  std::set<std::string> seen;
  std::size_t lines = 0;
  while (lines < runs.size() && seen.insert(runs[lines].name).second) ++lines;
  for (std::size_t i = lines; i < runs.size(); ++i) {
    const Host& first = runs[i % lines];
    const bool same =
        i + 1 < runs.size() ? runs[i] == first : runs[i].name == first.name && runs[i].slots <= first.slots;
    if (!same) return runs.size();
  }
  return lines;
}

[[noreturn]] void refuse_line(const std::string& file, int number, const std::string& line) {
  throw std::invalid_argument(
      fmt::format("{}:{}: '{}' is neither a line of a rankfile nor a host: write the file by quadrille place --output",
                  file, number, line));
}

void refuse_number(const std::string& file, std::size_t placed, int ranks) {
  throw std::invalid_argument(fmt::format("{} places {} ranks, and there are {}", file, placed, ranks));
}

}  // namespace

std::string one_a_line(std::span<const std::string> host_of_rank) {
  std::string text;
  for (const std::string& host : host_of_rank) text += host + "\n";
  return text;
}

std::string rankfile(std::span<const std::string> host_of_rank, bool on_cores) {
  std::map<std::string, int> next;
  std::string text;
  for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    const std::string& host = host_of_rank[rank];
    const std::string core = on_cores ? std::to_string(next[host]++) : "*";
    text += fmt::format("rank {}={} slot={}\n", rank, host, core);
  }
  return text;
}

HydraHosts hydra_hosts(std::span<const std::string> host_of_rank) {
  const std::vector<Host> runs = runs_of(host_of_rank);
  const std::size_t lines = lines_of_a_turn(runs);
  HydraHosts made{.text = text_of(std::span(runs).first(lines)), .listed_again = std::nullopt};
  std::set<std::string> seen;
  int rank = 0;
  for (std::size_t i = 0; i < lines && !made.listed_again; ++i) {
    if (!seen.insert(runs[i].name).second) made.listed_again = rank;
    rank += runs[i].slots;
  }
  return made;
}

std::vector<std::string> hosts_of_ranks(std::string_view text, const std::string& file, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  std::map<int, std::string> by_rank;
  std::vector<std::string> in_order;
  bool turns = false;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::string word;
    std::istringstream words(line.substr(0, line.find('#')));
    if (!(words >> word)) continue;
    if (word == "rank") {
      int rank = 0;
      char equals = 0;
      if (!(words >> rank >> equals >> word) || equals != '=' || rank < 0) refuse_line(file, number, line);
      by_rank[rank] = word;
      continue;
    }
    turns = turns || word.find(':') != std::string::npos;
    const std::vector<Host> host = parse_hosts(word, file);
    in_order.insert(in_order.end(), static_cast<std::size_t>(host.front().slots), host.front().name);
  }
  if (!by_rank.empty()) {
    if (by_rank.size() != count) refuse_number(file, by_rank.size(), ranks);
    if (by_rank.rbegin()->first != ranks - 1) {
      throw std::invalid_argument(
          fmt::format("{} places rank {}, and there are {}", file, by_rank.rbegin()->first, ranks));
    }
    in_order.clear();
    for (auto& [rank, host] : by_rank) in_order.push_back(std::move(host));
    return in_order;
  }
  if (in_order.empty() || (in_order.size() != count && !turns)) refuse_number(file, in_order.size(), ranks);
  std::vector<std::string> all;
  for (std::size_t rank = 0; rank < count; ++rank) all.push_back(in_order[rank % in_order.size()]);
  return all;
}

}  // namespace quadrille::hosts
