#include <queue>
#include <tuple>
#include <vector>

#include "placement/domains.hpp"

namespace quadrille::placement {

namespace {

// Ranks by how much they have to do with those that were placed: the most first, of equals the lowest.
class Attraction {
 public:
  explicit Attraction(Rank ranks) : to_(index(ranks)) {}

  void add(Rank rank, double more) {
    double& sum = to_[index(rank)];
    if (sum == 0) touched_.push_back(rank);
    queue_.emplace(sum += more, -rank);
  }
  // -1: nobody has.
  template <typename IsFree>
  Rank most(const IsFree& is_free) {
    while (!queue_.empty()) {
      const auto [attraction, negative] = queue_.top();
      const Rank rank = -negative;
      if (is_free(rank) && attraction == to_[index(rank)]) return rank;
      queue_.pop();
    }
    return -1;
  }
  void clear() {
    for (const Rank rank : touched_) to_[index(rank)] = 0;
    touched_.clear();
    queue_ = {};
  }

 private:
  std::vector<double> to_;
  std::vector<Rank> touched_;
  std::priority_queue<std::tuple<double, Rank>> queue_;
};

class Greedy {
 public:
  explicit Greedy(const Mapping& mapping)
      : mapping_(mapping), of_(index(mapping.ranks()), outside), attraction_(mapping.ranks()) {}

  // Domains are filled one after another, each with the ranks that have most to do with those in it already.
  Division operator()(const std::vector<Rank>& ranks, const std::vector<Domain>& domains) {
    Division in(domains.size());
    const std::vector<std::int32_t> domain_of = domains_of_slots(mapping_, domains);
    for (const Rank rank : ranks) {
      const std::int32_t slot = fixed_slot(mapping_, rank);
      of(rank) = slot < 0 ? waiting : domain_of[index(slot)];
      if (slot >= 0) in[static_cast<std::size_t>(of(rank))].push_back(rank);
    }
    auto lowest = ranks.begin();
    for (std::size_t domain = 0; domain < domains.size(); ++domain) {
      attraction_.clear();
      for (const Rank rank : in[domain]) attract(rank);
      while (in[domain].size() < domains[domain].slots.size()) {
        while (lowest != ranks.end() && of(*lowest) != waiting) ++lowest;
        if (lowest == ranks.end()) break;
        Rank next = attraction_.most([&](Rank rank) { return of(rank) == waiting; });
        if (next < 0) next = *lowest;
        of(next) = static_cast<std::int32_t>(domain);
        in[domain].push_back(next);
        attract(next);
      }
    }
    for (const Rank rank : ranks) of(rank) = outside;
    return in;
  }

 private:
  static constexpr std::int32_t outside = -2;  // not among those that are divided
  static constexpr std::int32_t waiting = -1;

  std::int32_t& of(Rank rank) { return of_[index(rank)]; }
  void attract(Rank rank) {
    for_peers(mapping_, rank, [&](Rank peer, double weight) {
      if (of(peer) == waiting) attraction_.add(peer, weight);
    });
  }

  const Mapping& mapping_;
  std::vector<std::int32_t> of_;  // by rank: its domain, while they are divided
  Attraction attraction_;
};

}  // namespace

Placement greedy(const Mapping& mapping) {
  return by_domains(mapping, Greedy(mapping));
}

}  // namespace quadrille::placement
