#include "cluster/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "hosts/launch_files.hpp"

namespace quadrille::cluster {

namespace {

void refuse_too_many(std::int64_t ranks, std::int64_t most, const std::string& why) {
  refuse(ranks > most,
         fmt::format("-n: {} ranks exceed {}: use fewer, or bring the cluster up with more --nodes or --slots", ranks,
                     why));
}

Mapping by_rule(int ranks, const std::function<int(int)>& node_of_rank) {
  Mapping nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(node_of_rank(rank));
  return nodes;
}

// The N of "ppr:N".
int ranks_a_node(const std::string& text, const Options& options) {
  int number = 0;
  const char* begin = text.data() + text.find(':') + 1;
  const auto [rest, error] = std::from_chars(begin, text.data() + text.size(), number);
  const bool good = error == std::errc() && *rest == '\0' && number >= 1;
  refuse(!good, fmt::format("--map: '{}' is not ppr:N with a number of ranks per node", text));
  refuse(number > options.slots,
         fmt::format("--map: {} exceeds the {} slots per node: bring the cluster up with more --slots", text,
                     options.slots));
  return number;
}

std::string trimmed(std::string line) {
  line.erase(std::find(line.begin(), line.end(), '#'), line.end());
  const auto blank = [](unsigned char c) { return std::isspace(c) != 0; };
  line.erase(line.begin(), std::find_if_not(line.begin(), line.end(), blank));
  line.erase(std::find_if_not(line.rbegin(), line.rend(), blank).base(), line.end());
  return line;
}

Mapping from_file(const std::string& path, std::optional<int> ranks, const Options& options) {
  std::ifstream file(path);
  refuse(!file, fmt::format("--map: '{}' is neither block, cyclic nor ppr:N, nor a readable file", path));
  Mapping nodes;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string word = trimmed(line);
    if (word.empty()) continue;
    try {
      nodes.push_back(node_of(word, options.nodes));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("--map: {}:{}: {}", path, number, error.what()));
    }
  }
  refuse(nodes.empty(), fmt::format("--map: {} lists no nodes: write one per line for each rank", path));
  const auto lines = static_cast<int>(nodes.size());
  refuse(ranks && *ranks > lines, fmt::format("-n: {} ranks, but {} maps only {}", ranks.value_or(0), path, lines));
  nodes.resize(static_cast<std::size_t>(ranks.value_or(lines)));
  return nodes;
}

void check_slots(const Mapping& nodes, const Options& options) {
  std::vector<int> ranks(static_cast<std::size_t>(options.nodes));
  for (int node : nodes) ++ranks.at(static_cast<std::size_t>(node));
  const auto most = std::max_element(ranks.begin(), ranks.end());
  refuse(*most > options.slots, fmt::format("{} would have {} ranks, but a node has {} slots: map fewer ranks there, "
                                            "or bring the cluster up with more --slots",
                                            node_name(static_cast<int>(most - ranks.begin())), *most, options.slots));
}

}  // namespace

Mapping mapping(const std::string& text, std::optional<int> ranks, const Options& options) {
  refuse(ranks && *ranks < 1, fmt::format("-n: {} is not a valid number of ranks", ranks.value_or(0)));
  const std::int64_t slots = static_cast<std::int64_t>(options.nodes) * options.slots;
  Mapping nodes;
  if (text.substr(0, 4) == "ppr:") {
    const int each = ranks_a_node(text, options);
    const int count = ranks.value_or(options.nodes * each);
    refuse_too_many(count, static_cast<std::int64_t>(options.nodes) * each,
                    fmt::format("{} on each of {} nodes", each, options.nodes));
    nodes = by_rule(count, [each](int rank) { return rank / each; });
  } else if (text == "block" || text == "cyclic") {
    const int count = ranks.value_or(static_cast<int>(slots));
    refuse_too_many(count, slots, fmt::format("the {} slots of {} nodes", slots, options.nodes));
    const bool block = text == "block";
    nodes = by_rule(count, [&](int rank) { return block ? rank / options.slots : rank % options.nodes; });
  } else {
    nodes = from_file(text, ranks, options);
  }
  check_slots(nodes, options);
  return nodes;
}

std::vector<std::string> hosts_of(const Mapping& mapping) {
  std::vector<std::string> names;
  for (const int node : mapping) names.push_back(node_name(node));
  return names;
}

std::string hosts_for_mpich(const Mapping& mapping) {
  const hosts::HydraHosts made = hosts::hydra_hosts(hosts_of(mapping));
  if (made.listed_again) {
    const int rank = *made.listed_again;
    throw std::invalid_argument(
        fmt::format("--map: MPICH's launcher would take {} for another node from rank {} on: it visits the nodes in a "
                    "fixed order, with a fixed number of ranks on each; change the file, or use Open MPI",
                    node_name(mapping[static_cast<std::size_t>(rank)]), rank));
  }
  return made.text;
}

}  // namespace quadrille::cluster
