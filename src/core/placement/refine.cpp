#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <utility>

#include "placement/domains.hpp"

namespace quadrille::placement {

namespace {

// Of a time, by which another must be less to be less for more than rounding.
constexpr double rounding = 1e-9;
// Nodes that a rank is tried on: those of the peers it has most to do with, and any other ones. And slots of each.
constexpr std::size_t near_nodes = 4;
constexpr std::size_t far_nodes = 2;
constexpr std::size_t slots_tried = 8;
// Random swaps away from where no swap is better; and one in so many times as many as there are ranks, which is a new
// start.
constexpr int few_swaps = 3;
constexpr int new_start = 4;

struct Value {
  double seconds = 0;
  double total = 0;

  bool better_than(const Value& other) const {
    if (seconds < other.seconds * (1 - rounding)) return true;
    return seconds <= other.seconds * (1 + rounding) && total < other.total * (1 - rounding);
  }
};

class Search {
 public:
  Search(const Mapping& mapping, Placement start, std::int64_t effort)
      : mapping_(mapping),
        load_(mapping.phases, mapping.ground, std::move(start)),
        effort_(effort),
        random_(mapping.seed),
        first_slot_(static_cast<std::size_t>(mapping.ground.nodes()) + 1),
        order_(index(mapping.ranks())) {
    for (const std::int32_t node : mapping.ground.node_of) ++first_slot_[index(node) + 1];
    std::partial_sum(first_slot_.begin(), first_slot_.end(), first_slot_.begin());
    std::iota(order_.begin(), order_.end(), 0);
  }

  Placement run() {
    descend();
    Placement best = load_.placement();
    Value value = this->value();
    // Where nothing is worth a swap, or every one was tried.
    while (effort_ > 0 && mapping_.ranks() > 2) {
      swaps_.clear();
      const Rank swaps = below(new_start) == 0 ? mapping_.ranks() : few_swaps;
      for (Rank i = 0; i < swaps; ++i) swap(any_slot(), any_slot());
      descend();
      if (value.better_than(this->value())) {
        for (; !swaps_.empty(); swaps_.pop_back()) load_.swap(swaps_.back().first, swaps_.back().second);
      } else if (this->value().better_than(value)) {
        value = this->value();
        best = load_.placement();
      }
      --effort_;
    }
    return best;
  }

 private:
  Value value() const { return {load_.seconds(), load_.total()}; }

  bool may_move(std::int32_t slot) const {
    const Rank rank = load_.on(slot);
    return rank < 0 || mapping_.fixed.empty() || mapping_.fixed[index(rank)] < 0;
  }
  std::int32_t below(std::int32_t end) {
    return static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(end));
  }
  std::int32_t any_slot() { return below(mapping_.ground.slots()); }

  void swap(std::int32_t one, std::int32_t other) {
    if (!may_move(one) || !may_move(other)) return;
    for (const std::int32_t slot : {one, other}) {
      if (load_.on(slot) >= 0) effort_ -= static_cast<std::int64_t>(load_.edges(load_.on(slot)));
    }
    --effort_;
    load_.swap(one, other);
    swaps_.emplace_back(one, other);
  }
  void take_back() {
    load_.swap(swaps_.back().first, swaps_.back().second);
    swaps_.pop_back();
  }

  // Until no rank has a swap that is better.
  void descend() {
    std::size_t without = 0;
    while (without < order_.size() && effort_ > 0) {
      std::shuffle(order_.begin(), order_.end(), random_);
      for (std::size_t i = 0; i < order_.size() && without < order_.size() && effort_ > 0; ++i) {
        without = improve(order_[i]) ? 0 : without + 1;
      }
    }
  }

  // The nodes of the peers that it has most to do with, and some others.
  std::vector<std::int32_t> nodes_to_try(Rank rank) {
    std::vector<std::pair<double, std::int32_t>> weights;
    for_peers(mapping_, rank, [&](Rank peer, double weight) { weights.emplace_back(weight, load_.node(peer)); });
    const std::size_t most = std::min(weights.size(), 4 * near_nodes);
    std::partial_sort(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(most), weights.end(),
                      std::greater<>());
    std::vector<std::int32_t> nodes;
    const auto add = [&](std::int32_t node) {
      if (node == load_.node(rank) || std::find(nodes.begin(), nodes.end(), node) != nodes.end()) return;
      nodes.push_back(node);
    };
    for (std::size_t i = 0; i < most && nodes.size() < near_nodes; ++i) add(weights[i].second);
    for (std::size_t i = 0; i < far_nodes; ++i) add(below(mapping_.ground.nodes()));
    return nodes;
  }

  // The best of the swaps that are tried, if it is better than none.
  bool improve(Rank rank) {
    const std::int32_t own = load_.at(rank);
    if (!may_move(own)) return false;
    Value best = value();
    std::int32_t target = -1;
    for (const std::int32_t node : nodes_to_try(rank)) {
      const std::int32_t begin = first_slot_[index(node)];
      const std::int32_t slots = first_slot_[index(node) + 1] - begin;
      const std::int32_t tried = std::min(slots, static_cast<std::int32_t>(slots_tried));
      if (slots == 0) continue;
      const std::int32_t start = below(slots);
      bool empty = false;  // one was tried: they are all the same
      for (std::int32_t i = 0; i < tried; ++i) {
        const std::int32_t slot = begin + (start + i) % slots;
        if (!may_move(slot) || (load_.on(slot) < 0 && std::exchange(empty, true))) continue;
        swap(own, slot);
        if (value().better_than(best)) {
          best = value();
          target = slot;
        }
        take_back();
      }
    }
    if (target < 0) return false;
    swap(own, target);
    return true;
  }

  const Mapping& mapping_;
  Load load_;
  std::int64_t effort_;
  std::mt19937_64 random_;
  std::vector<std::int32_t> first_slot_;  // by node; and behind the last
  std::vector<Rank> order_;
  std::vector<std::pair<std::int32_t, std::int32_t>> swaps_;  // since the last kick
};

}  // namespace

Placement refined(const Mapping& mapping, Placement start, std::int64_t effort) {
  return Search(mapping, std::move(start), effort).run();
}

}  // namespace quadrille::placement
