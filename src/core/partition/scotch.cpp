#include "partition/scotch.hpp"

#ifdef QUADRILLE_SCOTCH

#include <scotch.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "placement/domains.hpp"

namespace quadrille::placement {

namespace {

// All weights of edges together: they are integers there, which may be of 32 bits.
constexpr double most_weight = 1e9;
// By which a domain may have more ranks than its share; those without a slot move on.
constexpr double imbalance = 0.01;

void check(int status) {
  if (status != 0) throw std::runtime_error("SCOTCH could not divide the communication graph");
}

template <typename Object, int (*initialise)(Object*), void (*finish)(Object*)>
class Owned {
 public:
  Owned() { check(initialise(&object_)); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { finish(&object_); }
  Object* get() { return &object_; }

 private:
  Object object_ = {};
};
using ScotchGraph = Owned<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using ScotchArchitecture = Owned<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
using ScotchStrategy = Owned<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;

// The edges among some of the ranks, in SCOTCH's form.
struct Part {
  std::vector<SCOTCH_Num> from{0};
  std::vector<SCOTCH_Num> peers;
  std::vector<SCOTCH_Num> weights;
};

class Scotch {
 public:
  explicit Scotch(const Mapping& mapping) : mapping_(mapping), number_(index(mapping.ranks()), -1) {}

  Division operator()(const std::vector<Rank>& ranks, const std::vector<Domain>& domains) {
    Division in(domains.size());
    if (ranks.empty()) return in;
    // Where not all are needed, the last ones stay empty.
    std::vector<SCOTCH_Num> sizes;
    std::size_t slots = 0;
    for (std::size_t domain = 0; slots < ranks.size(); ++domain) {
      sizes.push_back(static_cast<SCOTCH_Num>(domains[domain].slots.size()));
      slots += domains[domain].slots.size();
    }
    std::vector<SCOTCH_Num> domain_of(ranks.size());
    if (sizes.size() > 1) domain_of = mapped(ranks, sizes);
    return fitted(ranks, domains, domain_of);
  }

 private:
  Part part_of(const std::vector<Rank>& ranks) {
    for (std::size_t i = 0; i < ranks.size(); ++i) number_[static_cast<std::size_t>(ranks[i])] = static_cast<int>(i);
    std::vector<std::pair<SCOTCH_Num, double>> edges;
    Part part;
    std::vector<double> seconds;
    double sum = 0;
    for (const Rank rank : ranks) {
      edges.clear();
      for_peers(mapping_, rank, [&](Rank peer, double weight) {
        const SCOTCH_Num number = number_[index(peer)];
        if (number >= 0) edges.emplace_back(number, weight);
      });
      std::sort(edges.begin(), edges.end());
      for (const auto& [peer, weight] : edges) {
        sum += weight;
        if (static_cast<std::size_t>(part.from.back()) < part.peers.size() && part.peers.back() == peer) {
          seconds.back() += weight;
        } else {
          part.peers.push_back(peer);
          seconds.push_back(weight);
        }
      }
      part.from.push_back(static_cast<SCOTCH_Num>(part.peers.size()));
    }
    const double scale = sum > 0 ? most_weight / sum : 0;
    for (const double one : seconds) part.weights.push_back(1 + static_cast<SCOTCH_Num>(scale * one));
    for (const Rank rank : ranks) number_[index(rank)] = -1;
    return part;
  }

  std::vector<SCOTCH_Num> mapped(const std::vector<Rank>& ranks, const std::vector<SCOTCH_Num>& sizes) {
    const Part part = part_of(ranks);
    ScotchGraph graph;
    ScotchArchitecture architecture;
    ScotchStrategy strategy;
    const auto domains = static_cast<SCOTCH_Num>(sizes.size());
    SCOTCH_randomReset();
    check(SCOTCH_graphBuild(graph.get(), 0, static_cast<SCOTCH_Num>(ranks.size()), part.from.data(), nullptr, nullptr,
                            nullptr, static_cast<SCOTCH_Num>(part.peers.size()), part.peers.data(),
                            part.weights.data()));
    check(SCOTCH_archCmpltw(architecture.get(), domains, sizes.data()));
    check(SCOTCH_stratGraphMapBuild(strategy.get(), SCOTCH_STRATDEFAULT, domains, imbalance));
    std::vector<SCOTCH_Num> domain_of(ranks.size());
    check(SCOTCH_graphMap(graph.get(), architecture.get(), strategy.get(), domain_of.data()));
    return domain_of;
  }

  // At most as many ranks in a domain as it has slots, and fixed ones where they belong.
  Division fitted(const std::vector<Rank>& ranks, const std::vector<Domain>& domains,
                  const std::vector<SCOTCH_Num>& domain_of) const {
    Division in(domains.size());
    std::vector<Rank> left;
    const std::vector<std::int32_t> domain_of_slot = domains_of_slots(mapping_, domains);
    for (const Rank rank : ranks) {
      const std::int32_t slot = fixed_slot(mapping_, rank);
      if (slot >= 0) in[static_cast<std::size_t>(domain_of_slot[index(slot)])].push_back(rank);
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (fixed_slot(mapping_, ranks[i]) >= 0) continue;
      const auto domain = static_cast<std::size_t>(domain_of[i]);
      (in[domain].size() < domains[domain].slots.size() ? in[domain] : left).push_back(ranks[i]);
    }
    std::size_t domain = 0;
    for (const Rank rank : left) {
      while (in[domain].size() == domains[domain].slots.size()) ++domain;
      in[domain].push_back(rank);
    }
    return in;
  }

  const Mapping& mapping_;
  std::vector<SCOTCH_Num> number_;  // by rank: its number among those that are divided
};

}  // namespace

std::optional<Placement> by_scotch(const Mapping& mapping) {
  return by_domains(mapping, Scotch(mapping));
}

}  // namespace quadrille::placement

#else

namespace quadrille::placement {

std::optional<Placement> by_scotch(const Mapping& /*mapping*/) {
  return std::nullopt;
}

}  // namespace quadrille::placement

#endif
