#include "topology/places.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "schedule/memory.hpp"

namespace quadrille {

namespace {

std::size_t at(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

// Whether a level tells any two ranks apart.
bool splits(const std::vector<std::int32_t>& names) {
  return std::any_of(names.begin(), names.end(), [&](std::int32_t name) { return name != names.front(); });
}

}  // namespace

class Places::Cursor {
 public:
  explicit Cursor(const Places& places) : places_(places) {}

  std::int32_t node(std::int32_t process) {
    if (!places_.node_of_.empty()) {
      return at(process) < places_.node_of_.size() ? places_.node_of_[at(process)] : unknown;
    }
    const auto& runs = places_.runs_;
    const auto holds = [&](std::size_t run) {
      return run < runs.size() && runs[run].begin <= process &&
             (run + 1 == runs.size() || process < runs[run + 1].begin);
    };
    if (!holds(at_) && !holds(++at_)) {
      const auto after = std::upper_bound(runs.begin(), runs.end(), process,
                                          [](std::int32_t one, const Run& run) { return one < run.begin; });
      at_ = static_cast<std::size_t>(after - runs.begin()) - 1;
    }
    return runs[at_].node;
  }

 private:
  const Places& places_;
  std::size_t at_ = 0;
};

bool Places::know(std::span<const std::int32_t> processes) const {
  Cursor cursor(*this);
  return std::all_of(processes.begin(), processes.end(),
                     [&](std::int32_t process) { return cursor.node(process) != unknown; });
}

std::int32_t Places::number_of(const Place& place) const {
  const auto found = std::lower_bound(by_place_.begin(), by_place_.end(), place,
                                      [&](std::int32_t one, const Place& of) { return nodes_[at(one)] < of; });
  return found != by_place_.end() && nodes_[at(*found)] == place ? *found : unknown;
}

void Places::learn_nodes(std::span<const Place> places) {
  std::vector<Place> heard;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool goes_on = i > 0 && places[i] == places[i - 1];
    if (!goes_on && number_of(places[i]) == unknown) heard.push_back(places[i]);
  }
  std::sort(heard.begin(), heard.end());
  heard.erase(std::unique(heard.begin(), heard.end()), heard.end());
  nodes_.reserve(nodes_.size() + heard.size());
  nodes_.insert(nodes_.end(), heard.begin(), heard.end());
  by_place_.resize(nodes_.size());
  std::iota(by_place_.begin(), by_place_.end(), 0);
  std::sort(by_place_.begin(), by_place_.end(),
            [&](std::int32_t a, std::int32_t b) { return nodes_[at(a)] < nodes_[at(b)]; });
}

void Places::learn(std::span<const std::int32_t> processes, std::span<const Place> places) {
  if (processes.empty()) return;
  learn_nodes(places);
  // By process. As a rule these are in order already.
  std::vector<std::size_t> order(processes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto less = [&](std::size_t a, std::size_t b) { return processes[a] < processes[b]; };
  if (!std::is_sorted(processes.begin(), processes.end())) std::sort(order.begin(), order.end(), less);

  const std::int32_t behind = processes[order.back()] + 1;
  Cursor known(*this);
  std::vector<Run> runs;
  const auto add = [&](std::int32_t process, std::int32_t node) {
    if (runs.empty() || runs.back().node != node) runs.push_back({process, node});
  };
  std::int32_t next = 0;
  const auto keep_until = [&](std::int32_t end) {
    for (; next < end; ++next) add(next, known.node(next));
  };
  std::int32_t node = unknown;
  std::size_t last = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Place& place = places[order[i]];
    const bool goes_on = i > 0 && place == places[last];
    if (!goes_on) node = number_of(place);
    last = order[i];
    keep_until(processes[last]);
    add(processes[last], node);
    next = processes[last] + 1;
  }
  // What was known behind them.
  if (!node_of_.empty()) {
    keep_until(std::max(behind, static_cast<std::int32_t>(node_of_.size())));
    add(next, unknown);
  } else {
    add(behind, known.node(behind));
    for (const Run& run : runs_) {
      if (run.begin > behind) add(run.begin, run.node);
    }
  }
  runs.shrink_to_fit();
  // Few processes follow one another.
  const std::int32_t end = runs.back().begin;
  if (2 * std::ssize(runs) <= end) {
    runs_ = std::move(runs);
    node_of_ = {};
    return;
  }
  std::vector<std::int32_t> node_of(at(end));
  for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
    std::fill(node_of.begin() + runs[i].begin, node_of.begin() + runs[i + 1].begin, runs[i].node);
  }
  node_of_ = std::move(node_of);
  runs_ = {};
}

Topology Places::topology(std::span<const std::int32_t> processes) const {
  std::vector<std::int32_t> nodes;
  nodes.reserve(processes.size());
  Cursor cursor(*this);
  for (const std::int32_t process : processes) nodes.push_back(cursor.node(process));
  // Racks by the number of the first node in each.
  std::vector<std::int32_t> rack_of_node(nodes_.size());
  std::vector<std::int32_t> by_rack(nodes_.size());
  std::iota(by_rack.begin(), by_rack.end(), 0);
  std::stable_sort(by_rack.begin(), by_rack.end(),
                   [&](std::int32_t a, std::int32_t b) { return nodes_[at(a)].rack < nodes_[at(b)].rack; });
  for (std::size_t i = 0; i < by_rack.size(); ++i) {
    const bool same = i > 0 && nodes_[at(by_rack[i])].rack == nodes_[at(by_rack[i - 1])].rack;
    rack_of_node[at(by_rack[i])] = same ? rack_of_node[at(by_rack[i - 1])] : by_rack[i];
  }
  std::vector<std::int32_t> racks;
  if (splits(rack_of_node)) {
    racks.reserve(nodes.size());
    for (const std::int32_t node : nodes) racks.push_back(rack_of_node[at(node)]);
  }
  std::vector<std::vector<std::int32_t>> levels;
  if (splits(racks)) levels.push_back(std::move(racks));
  if (splits(nodes)) levels.push_back(std::move(nodes));
  return {static_cast<Rank>(processes.size()), levels};
}

std::int64_t Places::bytes() const {
  return static_cast<std::int64_t>(sizeof(Places)) + allocated(nodes_) + allocated(by_place_) + allocated(runs_) +
         allocated(node_of_);
}

Topology topology_of(std::span<const Place> places) {
  std::vector<std::int32_t> all(places.size());
  std::iota(all.begin(), all.end(), 0);
  Places heard;
  heard.learn(all, places);
  return heard.topology(all);
}

}  // namespace quadrille
