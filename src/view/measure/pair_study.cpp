#include "measure/pair_study.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>

namespace quadrille::measure {

namespace {

constexpr std::size_t least_times = 2;
constexpr std::size_t before_alone = 4;  // times in rounds, before a pair is measured while all others are silent
constexpr std::size_t most_times = 6;
constexpr std::size_t most_alone = 32;  // pairs

std::size_t position(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

double middle_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What disturbs a message makes it slower: the best counts.
cost::Between best_of(std::span<const PairSample> samples) {
  cost::Between best{samples.front().latency, samples.front().rate};
  for (const PairSample& one : samples) {
    best.latency = std::min(best.latency, one.latency);
    best.rate = std::max(best.rate, one.rate);
  }
  return best;
}

// The best two agree: rates to 10 %, latencies to 25 % or 5 µs.
bool agree(std::span<const PairSample> samples, bool latencies_too) {
  if (samples.size() < least_times) return false;
  std::vector<double> latencies;
  std::vector<double> rates;
  for (const PairSample& one : samples) {
    latencies.push_back(one.latency);
    rates.push_back(-one.rate);
  }
  std::partial_sort(latencies.begin(), latencies.begin() + least_times, latencies.end());
  std::partial_sort(rates.begin(), rates.begin() + least_times, rates.end());
  if (rates[1] > 0.9 * rates[0]) return false;
  return !latencies_too || latencies[1] <= std::max(1.25 * latencies[0], latencies[0] + 5e-6);
}

// Nodes that are joined by the given pairs, as numbers from 0 on, in the order of their first nodes.
std::vector<std::int32_t> joined(std::size_t nodes, std::span<const NodePair> pairs) {
  std::vector<std::int32_t> group(nodes);
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&](std::int32_t node) {
    while (group[position(node)] != node) node = group[position(node)] = group[position(group[position(node)])];
    return node;
  };
  for (const NodePair& pair : pairs) {
    const std::int32_t one = root(pair.one);
    const std::int32_t other = root(pair.other);
    group[position(std::max(one, other))] = std::min(one, other);
  }
  std::map<std::int32_t, std::int32_t> numbers;
  std::vector<std::int32_t> of_node;
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::int32_t first = root(static_cast<std::int32_t>(node));
    of_node.push_back(numbers.try_emplace(first, static_cast<std::int32_t>(numbers.size())).first->second);
  }
  return of_node;
}

}  // namespace

PairStudy::PairStudy(cost::Pairs known, bool ranks_share_cores)
    : known_(std::move(known)), ranks_share_cores_(ranks_share_cores) {
  const std::vector<NodePair> pairs = pairs_to_measure(rack_of());
  wanted_.insert(pairs.begin(), pairs.end());
}

std::vector<std::int32_t> PairStudy::rack_of() const {
  std::vector<std::int32_t> racks;
  for (const cost::Pairs::Link& node : known_.nodes) racks.push_back(node.rack);
  return racks;
}

const PairStudy::Samples& PairStudy::samples(std::int32_t from, std::int32_t to) const {
  static const Samples none;
  const auto found = samples_.find({from, to});
  return found == samples_.end() ? none : found->second;
}

std::int64_t PairStudy::pairs() const {
  const auto nodes = static_cast<std::int64_t>(known_.nodes.size());
  return nodes * (nodes - 1) / 2;
}

bool PairStudy::agrees(const NodePair& pair) const {
  return agree(samples(pair.one, pair.other), !ranks_share_cores_) &&
         agree(samples(pair.other, pair.one), !ranks_share_cores_);
}

bool PairStudy::is_done(const NodePair& pair) const {
  return samples(pair.one, pair.other).size() >= most_times || agrees(pair);
}

std::vector<PairRound> PairStudy::next() {
  std::vector<NodePair> missing;
  const auto look = [&] {
    missing.clear();
    std::copy_if(wanted_.begin(), wanted_.end(), std::back_inserter(missing),
                 [&](const NodePair& pair) { return !is_done(pair); });
  };
  look();
  if (missing.empty() && !std::exchange(extended_, true)) {
    want_more_of_odd_nodes();
    look();
  }
  const auto is_hard = [&](const NodePair& pair) { return samples(pair.one, pair.other).size() >= before_alone; };
  std::vector<PairRound> rounds;
  const bool alone = missing.size() <= most_alone && std::all_of(missing.begin(), missing.end(), is_hard);
  if (alone) {
    for (const NodePair& pair : missing) rounds.push_back({pair});
  } else if (times_ == 0) {
    rounds = rounds_of(pairs_to_measure(rack_of()), rack_of());
  } else {
    // In other company each time: links that nobody has told of show.
    std::shuffle(missing.begin(), missing.end(), std::mt19937(static_cast<unsigned>(times_)));
    rounds = rounds_of(missing, rack_of());
  }
  if (!rounds.empty()) ++times_;
  rounds_ += static_cast<int>(rounds.size());
  return rounds;
}

void PairStudy::add(std::span<const PairSample> samples) {
  for (const PairSample& one : samples) samples_[{one.from, one.to}].push_back(one);
  // Each time: a node that was busy at first may have hidden them.
  if (times_ < static_cast<int>(least_times) || !known_.racks.empty() || !recognise_racks()) return;
  // What went between racks may have shared their uplinks.
  std::erase_if(samples_, [&](const auto& one) { return !known_.same_rack(one.first[0], one.first[1]); });
  const std::vector<NodePair> pairs = pairs_to_measure(rack_of());
  wanted_ = {pairs.begin(), pairs.end()};
}

void PairStudy::add_inside(const std::string& level, std::int32_t node, cost::Between found) {
  const auto [place, is_new] = inside_[level].try_emplace(node, found);
  if (is_new) return;
  place->second = {std::min(place->second.latency, found.latency), std::max(place->second.rate, found.rate)};
}

// Nodes are in one rack if a pair of them does what their links do; pairs of different racks do less, all of them.
bool PairStudy::recognise_racks() {
  const cost::Pairs found = result();
  std::vector<NodePair> fast;
  std::vector<NodePair> slow;
  for (const NodePair& pair : wanted_) {
    const cost::Pairs::Link& one = found.nodes[position(pair.one)];
    const cost::Pairs::Link& other = found.nodes[position(pair.other)];
    const bool full = found.between(pair.one, pair.other).rate >= alike * std::min(one.sends, other.receives) &&
                      found.between(pair.other, pair.one).rate >= alike * std::min(other.sends, one.receives);
    (full ? fast : slow).push_back(pair);
  }
  const std::vector<std::int32_t> group = joined(found.nodes.size(), fast);
  const std::int32_t groups = 1 + *std::max_element(group.begin(), group.end());
  std::vector<std::size_t> sizes(position(groups));
  for (const std::int32_t one : group) ++sizes[position(one)];
  const auto inside = std::count_if(slow.begin(), slow.end(), [&](const NodePair& pair) {
    return group[position(pair.one)] == group[position(pair.other)];
  });
  const bool clear = groups > 1 && *std::min_element(sizes.begin(), sizes.end()) > 1 &&
                     static_cast<double>(inside) < 0.1 * static_cast<double>(fast.size());
  if (!clear) return false;
  for (std::size_t node = 0; node < group.size(); ++node) known_.nodes[node].rack = group[node];
  for (std::int32_t rack = 0; rack < groups; ++rack) known_.racks.push_back({"group" + std::to_string(rack)});
  return racks_recognised_ = true;
}

// A node with a pair that neither its level nor a link explains meets all others of its rack.
void PairStudy::want_more_of_odd_nodes() {
  const cost::Pairs found = result();
  std::set<std::int32_t> odd;
  for (const cost::Pairs::Measured& one : found.measured) {
    if (one.found.rate < alike * found.usual(one.from, one.to).rate) odd.insert({one.from, one.to});
  }
  const auto nodes = static_cast<std::int32_t>(known_.nodes.size());
  for (const std::int32_t one : odd) {
    for (std::int32_t other = 0; other < nodes; ++other) {
      if (other != one && known_.same_rack(one, other)) wanted_.insert({std::min(one, other), std::max(one, other)});
    }
  }
}

std::vector<NodePair> PairStudy::unstable() const {
  std::vector<NodePair> pairs;
  std::copy_if(wanted_.begin(), wanted_.end(), std::back_inserter(pairs),
               [&](const NodePair& pair) { return !agrees(pair); });
  return pairs;
}

cost::Pairs PairStudy::result() const {
  cost::Pairs pairs = known_;
  std::map<std::string, std::vector<cost::Between>> by_level;
  const auto raise = [](double& rate, double seen) { rate = std::max(rate, seen); };
  for (const auto& [ends, samples] : samples_) {
    cost::Between found = best_of(samples);
    // Half of a round trip, whoever began it.
    const Samples& back = this->samples(ends[1], ends[0]);
    if (!back.empty()) found.latency = std::min(found.latency, best_of(back).latency);
    pairs.measured.push_back({ends[0], ends[1], found});
    const bool near = pairs.same_rack(ends[0], ends[1]);
    by_level[near ? "network" : "rack"].push_back(found);
    cost::Pairs::Link& sender = pairs.nodes[position(ends[0])];
    cost::Pairs::Link& receiver = pairs.nodes[position(ends[1])];
    raise(sender.sends, found.rate);
    raise(receiver.receives, found.rate);
    if (near) continue;
    raise(pairs.racks[position(sender.rack)].sends, found.rate);
    raise(pairs.racks[position(receiver.rack)].receives, found.rate);
  }
  for (const auto& [level, nodes] : inside_) {
    for (const auto& [node, found] : nodes) by_level[level].push_back(found);
  }
  for (const auto& [level, all] : by_level) {
    std::vector<double> latencies;
    std::vector<double> rates;
    for (const cost::Between& one : all) {
      latencies.push_back(one.latency);
      rates.push_back(one.rate);
    }
    pairs.levels[level] = {middle_of(std::move(latencies)), middle_of(std::move(rates))};
  }
  return pairs;
}

}  // namespace quadrille::measure
