#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <vector>

#include "placement/mapper.hpp"

namespace quadrille::placement {

namespace {

// Seconds that are saved where two ranks are on one node.
class Weights {
 public:
  explicit Weights(const Mapping& mapping) : mapping_(mapping) {}

  template <typename See>
  void for_peers(Rank rank, const See& see) const {
    const cost::Link& network = mapping_.ground.model.network;
    const cost::Link& node = mapping_.ground.model.node;
    const double message = network.latency + network.overhead - node.latency - node.overhead;
    const double byte = network.wire + network.work - node.work;
    for (const Phase& phase : mapping_.phases) {
      for (const Graph::Edge& edge : phase.graph.edges(rank)) {
        const double messages = static_cast<double>(edge.messages_out) + static_cast<double>(edge.messages_in);
        see(edge.peer, phase.times * (messages * message + edge.bytes() * byte));
      }
    }
  }

 private:
  const Mapping& mapping_;
};

// Ranks by how much they have to do with those that were placed: the most first, of equals the lowest.
class Attraction {
 public:
  explicit Attraction(Rank ranks) : to_(static_cast<std::size_t>(ranks)) {}

  void add(Rank rank, double more) {
    double& sum = to_[static_cast<std::size_t>(rank)];
    if (sum == 0) touched_.push_back(rank);
    queue_.emplace(sum += more, -rank);
  }
  // -1: nobody has.
  template <typename IsFree>
  Rank most(const IsFree& is_free) {
    while (!queue_.empty()) {
      const auto [attraction, negative] = queue_.top();
      const Rank rank = -negative;
      if (is_free(rank) && attraction == to_[static_cast<std::size_t>(rank)]) return rank;
      queue_.pop();
    }
    return -1;
  }
  void clear() {
    for (const Rank rank : touched_) to_[static_cast<std::size_t>(rank)] = 0;
    touched_.clear();
    queue_ = {};
  }

 private:
  std::vector<double> to_;
  std::vector<Rank> touched_;
  std::priority_queue<std::tuple<double, Rank>> queue_;
};

// Slots that are filled together, since what their ranks send to each other stays among them.
struct Domain {
  std::vector<std::int32_t> slots;
  double slower = 1;
};

// The fastest first, then the largest: where not all are needed, those that are not used come last.
void sort(std::vector<Domain>& domains) {
  std::stable_sort(domains.begin(), domains.end(), [](const Domain& a, const Domain& b) {
    return a.slower != b.slower ? a.slower < b.slower : a.slots.size() > b.slots.size();
  });
}

class Greedy {
 public:
  explicit Greedy(const Mapping& mapping)
      : mapping_(mapping), weights_(mapping), of_(index(mapping.ranks()), outside), attraction_(mapping.ranks()) {
    for (std::int32_t slot = 0; slot < mapping.ground.slots(); ++slot) {
      const auto node = index(mapping.ground.node_of[index(slot)]);
      nodes_.resize(std::max(nodes_.size(), node + 1));
      nodes_[node].slots.push_back(slot);
      if (!mapping.ground.slower.empty()) nodes_[node].slower = mapping.ground.slower[node];
    }
  }

  // First to racks, then inside each of them to nodes.
  Placement run() {
    std::vector<Domain> racks(index(mapping_.ground.racks()));
    std::vector<std::vector<Domain>> nodes(racks.size());
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const auto rack = index(mapping_.ground.rack_of[node]);
      racks[rack].slots.insert(racks[rack].slots.end(), nodes_[node].slots.begin(), nodes_[node].slots.end());
      nodes[rack].push_back(nodes_[node]);
    }
    sort(racks);
    std::vector<Rank> all(index(mapping_.ranks()));
    std::iota(all.begin(), all.end(), 0);
    Placement placement(all.size(), -1);
    const std::vector<std::vector<Rank>> in_racks = divide(all, racks);
    for (std::size_t i = 0; i < racks.size(); ++i) {
      if (racks[i].slots.empty()) continue;
      std::vector<Domain>& inside =
          nodes[index(mapping_.ground.rack_of[index(mapping_.ground.node_of[index(racks[i].slots[0])])])];
      sort(inside);
      const std::vector<std::vector<Rank>> on_nodes = divide(in_racks[i], inside);
      for (std::size_t node = 0; node < inside.size(); ++node) place(on_nodes[node], inside[node], placement);
    }
    return placement;
  }

 private:
  static constexpr std::int32_t outside = -2;  // not among those that are divided
  static constexpr std::int32_t waiting = -1;

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }
  std::int32_t fixed(Rank rank) const { return mapping_.fixed.empty() ? -1 : mapping_.fixed[index(rank)]; }

  // Domains are filled one after another, each with the ranks that have most to do with those in it already.
  std::vector<std::vector<Rank>> divide(const std::vector<Rank>& ranks, const std::vector<Domain>& domains) {
    std::vector<std::int32_t> domain_of(index(mapping_.ground.slots()), -1);
    std::vector<std::vector<Rank>> in(domains.size());
    for (std::size_t domain = 0; domain < domains.size(); ++domain) {
      for (const std::int32_t slot : domains[domain].slots) domain_of[index(slot)] = static_cast<std::int32_t>(domain);
    }
    for (const Rank rank : ranks) {
      of_[index(rank)] = fixed(rank) < 0 ? waiting : domain_of[index(fixed(rank))];
      if (fixed(rank) >= 0) in[index(of_[index(rank)])].push_back(rank);
    }
    auto lowest = ranks.begin();
    for (std::size_t domain = 0; domain < domains.size(); ++domain) {
      attraction_.clear();
      for (const Rank rank : std::vector<Rank>(in[domain])) attract(rank);
      while (in[domain].size() < domains[domain].slots.size()) {
        while (lowest != ranks.end() && of_[index(*lowest)] != waiting) ++lowest;
        if (lowest == ranks.end()) break;
        Rank next = attraction_.most([&](Rank rank) { return of_[index(rank)] == waiting; });
        if (next < 0) next = *lowest;
        of_[index(next)] = static_cast<std::int32_t>(domain);
        in[domain].push_back(next);
        attract(next);
      }
    }
    for (const Rank rank : ranks) of_[index(rank)] = outside;
    return in;
  }
  void attract(Rank rank) {
    weights_.for_peers(rank, [&](Rank peer, double weight) {
      if (of_[index(peer)] == waiting) attraction_.add(peer, weight);
    });
  }
  void place(const std::vector<Rank>& ranks, const Domain& node, Placement& placement) const {
    std::vector<std::int32_t> free = node.slots;
    for (const Rank rank : ranks) {
      if (fixed(rank) < 0) continue;
      placement[index(rank)] = fixed(rank);
      free.erase(std::find(free.begin(), free.end(), fixed(rank)));
    }
    auto next = free.begin();
    for (const Rank rank : ranks) {
      if (fixed(rank) < 0) placement[index(rank)] = *next++;
    }
  }

  const Mapping& mapping_;
  Weights weights_;
  std::vector<std::int32_t> of_;  // by rank: its domain while they are divided
  Attraction attraction_;
  std::vector<Domain> nodes_;
};

}  // namespace

Placement greedy(const Mapping& mapping) {
  return Greedy(mapping).run();
}

}  // namespace quadrille::placement
