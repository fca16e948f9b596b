#pragma once

#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/pairs.hpp"
#include "measure/pair_rounds.hpp"

namespace quadrille::measure {

// What a node measured when it sent to another. Trivially copyable, to be sent.
struct PairSample {
  std::int32_t from = 0;
  std::int32_t to = 0;
  double latency = 0;  // seconds
  double rate = 0;     // bytes a second
};

// Links differ if one does less than this share of what the other does.
inline constexpr double alike = 0.75;

// Something about the machine that people should know.
struct Finding {
  enum class Kind : std::uint8_t { slow_node, slow_inside, slow_uplink, slow_pair, asymmetric, racks, unstable };

  Kind kind = Kind::slow_node;
  std::vector<std::string> names;  // of nodes or racks
  std::string text;
};
std::string_view name(Finding::Kind kind);

// The nodes whose links do less than those of most.
std::vector<Finding> slow_nodes(const cost::Pairs& pairs);

// Decides which pairs of nodes are measured, how often, and what follows. Knows nothing of MPI: whoever adds the same
// samples gets the same rounds.
class PairStudy {
 public:
  // Without the names of racks the nodes are all on one switch, as far as is known. Where ranks share cores, latencies
  // and what happens inside nodes are the scheduler's, and not judged.
  PairStudy(cost::Pairs known, bool ranks_share_cores);

  // The rounds to measure now; none: everything is stable, or was measured often enough.
  std::vector<PairRound> next();
  void add(std::span<const PairSample> samples);
  // Between two ranks of a node that share a part of it; `level` is that part's name.
  void add_inside(const std::string& level, std::int32_t node, cost::Between found);

  bool ranks_share_cores() const { return ranks_share_cores_; }
  // So far.
  int rounds() const { return rounds_; }
  // In all, and those measured.
  std::int64_t pairs() const;
  std::int64_t pairs_measured() const { return static_cast<std::int64_t>(samples_.size()) / 2; }

  cost::Pairs result() const;
  std::vector<Finding> findings() const;

 private:
  using Samples = std::vector<PairSample>;  // of one pair and direction

  std::vector<std::int32_t> rack_of() const;
  const Samples& samples(std::int32_t from, std::int32_t to) const;
  bool agrees(const NodePair& pair) const;
  bool is_done(const NodePair& pair) const;
  bool recognise_racks();
  void want_more_of_odd_nodes();
  std::vector<NodePair> unstable() const;

  cost::Pairs known_;
  bool ranks_share_cores_;
  std::set<NodePair> wanted_;
  std::map<std::array<std::int32_t, 2>, Samples> samples_;               // by sender and receiver
  std::map<std::string, std::map<std::int32_t, cost::Between>> inside_;  // by level and node
  bool racks_recognised_ = false;
  bool extended_ = false;
  int times_ = 0;
  int rounds_ = 0;
};

// For people and for programs.
std::string to_text(const PairStudy& study);
std::string to_json(const PairStudy& study, const std::string& from);
// Rates and latencies of all pairs, side by side; those that were not measured as is usual on their links.
std::string to_svg(const PairStudy& study);

}  // namespace quadrille::measure
