#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "measure/pair_study.hpp"
#include "text/quantities.hpp"

namespace quadrille::measure {

namespace {

using Kind = Finding::Kind;
using cost::Pairs;

constexpr std::size_t most_named = 6;
constexpr double slow_latency = 2;  // times as long as is usual
constexpr double slow_inside = 2;   // times, by rate

const std::string& node_name(const Pairs& pairs, std::int32_t node) {
  return pairs.nodes[static_cast<std::size_t>(node)].name;
}

std::string times_as(double large, double small) {
  return fmt::format("{:.1f} times", large / small);
}

// Of the rates on links, that of most of them.
double usual_of(const std::vector<Pairs::Link>& links, double Pairs::Link::*rate) {
  std::vector<double> rates;
  for (const Pairs::Link& link : links) {
    if (link.*rate > 0) rates.push_back(link.*rate);
  }
  if (rates.empty()) return 0;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

// Of two links both look the same.
void add_slow_links(const std::vector<Pairs::Link>& links, std::string_view what, Kind kind,
                    std::vector<Finding>& findings) {
  if (links.size() < 3) return;
  const double sends = usual_of(links, &Pairs::Link::sends);
  const double receives = usual_of(links, &Pairs::Link::receives);
  for (const Pairs::Link& link : links) {
    if (link.sends == 0 || link.receives == 0) continue;
    if (link.sends >= alike * sends && link.receives >= alike * receives) continue;
    findings.push_back(
        {kind,
         {link.name},
         fmt::format("{}{} sends {} and receives {}; others send {} and receive {}", what, link.name,
                     text::rate(link.sends), text::rate(link.receives), text::rate(sends), text::rate(receives))});
  }
}

void add_asymmetric_nodes(const Pairs& pairs, std::vector<Finding>& findings) {
  if (pairs.nodes.size() < 3) return;
  for (const Pairs::Link& node : pairs.nodes) {
    const auto [low, high] = std::minmax(node.sends, node.receives);
    if (low >= alike * high) continue;
    findings.push_back(
        {Kind::asymmetric,
         {node.name},
         fmt::format("{} {} {} faster than it {}", node.name, node.sends > node.receives ? "sends" : "receives",
                     times_as(high, low), node.sends > node.receives ? "receives" : "sends")});
  }
}

// Racks that are slower to each other than inside, as a whole.
void add_slow_level(const Pairs& pairs, std::vector<Finding>& findings) {
  const auto inside = pairs.levels.find("network");
  const auto across = pairs.levels.find("rack");
  if (inside == pairs.levels.end() || across == pairs.levels.end()) return;
  if (across->second.rate >= alike * inside->second.rate) return;
  std::vector<std::string> names;
  for (const Pairs::Link& rack : pairs.racks) names.push_back(rack.name);
  const bool two = names.size() == 2;
  findings.push_back({Kind::slow_uplink, names,
                      fmt::format("{} {}: inside a rack {}{}",
                                  two ? fmt::format("between {} and {}", names[0], names[1]) : "between racks",
                                  text::rate(across->second.rate), text::rate(inside->second.rate),
                                  two ? "; the uplink of one of them or of both" : "")});
}

void add_slow_pairs(const Pairs& pairs, bool latencies_too, std::vector<Finding>& findings) {
  for (const Pairs::Measured& one : pairs.measured) {
    const cost::Between usual = pairs.usual(one.from, one.to);
    const bool low_rate = one.found.rate < alike * usual.rate;
    const bool late = latencies_too && one.found.latency > slow_latency * usual.latency;
    if (!low_rate && !late) continue;
    const std::string& from = node_name(pairs, one.from);
    const std::string& to = node_name(pairs, one.to);
    std::string text = fmt::format("from {} to {}", from, to);
    if (low_rate) text += fmt::format(" {}; their links do {}", text::rate(one.found.rate), text::rate(usual.rate));
    if (late) {
      text += fmt::format("{} {}; usual {}", low_rate ? "," : "", text::seconds(one.found.latency),
                          text::seconds(usual.latency));
    }
    findings.push_back({Kind::slow_pair, {from, to}, text});
  }
}

void add_asymmetric_pairs(const Pairs& pairs, std::vector<Finding>& findings) {
  for (const Pairs::Measured& one : pairs.measured) {
    if (one.from > one.to) continue;
    const double there = one.found.rate / pairs.usual(one.from, one.to).rate;
    const double back = pairs.between(one.to, one.from).rate / pairs.usual(one.to, one.from).rate;
    const auto [low, high] = std::minmax(there, back);
    if (low >= alike * high) continue;
    const std::string& from = node_name(pairs, there > back ? one.from : one.to);
    const std::string& to = node_name(pairs, there > back ? one.to : one.from);
    findings.push_back({Kind::asymmetric,
                        {from, to},
                        fmt::format("from {} to {} is {} faster than back", from, to, times_as(high, low))});
  }
}

void add_slow_insides(const Pairs& pairs, const std::map<std::string, std::map<std::int32_t, cost::Between>>& inside,
                      std::vector<Finding>& findings) {
  for (const auto& [level, nodes] : inside) {
    for (const auto& [node, found] : nodes) {
      const cost::Between usual = pairs.levels.at(level);
      if (found.rate * slow_inside >= usual.rate) continue;
      findings.push_back({Kind::slow_inside,
                          {node_name(pairs, node)},
                          fmt::format("inside {} two ranks of one {} exchange {}; on other nodes {}",
                                      node_name(pairs, node), level, text::rate(found.rate), text::rate(usual.rate))});
    }
  }
}

void add_racks(const Pairs& pairs, std::vector<Finding>& findings) {
  std::string text = "nodes are in groups that are slower to each other, which QUADRILLE_RACKS could name:";
  std::vector<std::string> names;
  for (std::size_t rack = 0; rack < pairs.racks.size(); ++rack) {
    names.push_back(pairs.racks[rack].name);
    text += fmt::format("{} {}:", rack == 0 ? "" : ";", names.back());
    std::size_t listed = 0;
    for (const Pairs::Link& node : pairs.nodes) {
      if (static_cast<std::size_t>(node.rack) == rack && ++listed <= most_named) text += ' ' + node.name;
    }
    if (listed > most_named) text += fmt::format(" and {} more", listed - most_named);
  }
  findings.push_back({Kind::racks, names, text});
}

}  // namespace

std::string_view name(Finding::Kind kind) {
  constexpr std::array<std::string_view, 7> names = {"slow_node",  "slow_inside", "slow_uplink", "slow_pair",
                                                     "asymmetric", "racks",       "unstable"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<Finding> slow_nodes(const Pairs& pairs) {
  std::vector<Finding> findings;
  add_slow_links(pairs.nodes, "", Kind::slow_node, findings);
  return findings;
}

std::vector<Finding> PairStudy::findings() const {
  Pairs pairs = result();
  std::vector<Finding> findings;
  if (racks_recognised_) add_racks(pairs, findings);
  add_slow_links(pairs.nodes, "", Kind::slow_node, findings);
  const std::vector<NodePair> shaky = unstable();
  // On a machine that is busy with something else only what is plain is named.
  const bool quiet = 4 * static_cast<std::int64_t>(shaky.size()) <= pairs_measured();
  if (quiet) add_asymmetric_nodes(pairs, findings);
  add_slow_links(pairs.racks, "the uplink of ", Kind::slow_uplink, findings);
  add_slow_level(pairs, findings);
  if (!ranks_share_cores_) add_slow_insides(pairs, inside_, findings);
  // What is not stable is not called slow.
  std::erase_if(pairs.measured, [&](const Pairs::Measured& one) {
    const NodePair pair{std::min(one.from, one.to), std::max(one.from, one.to)};
    return std::binary_search(shaky.begin(), shaky.end(), pair);
  });
  if (quiet) {
    add_slow_pairs(pairs, !ranks_share_cores_, findings);
    add_asymmetric_pairs(pairs, findings);
  }
  if (!shaky.empty()) {
    const std::string& one = node_name(pairs, shaky.front().one);
    const std::string& other = node_name(pairs, shaky.front().other);
    findings.push_back({Kind::unstable,
                        {one, other},
                        fmt::format("{} of {} pairs differ by more than 10 % from time to time, as {} and {}{}",
                                    shaky.size(), pairs_measured(), one, other,
                                    quiet ? "" : ": measure again when the nodes have nothing else to do")});
  }
  return findings;
}

}  // namespace quadrille::measure
