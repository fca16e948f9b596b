#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/runs.hpp"
#include "schedule/data.hpp"
#include "topology/topology.hpp"

namespace quadrille::cost {

// How many messages of a round meet on a link, by where the ranks of a communicator lie. Made once for a communicator;
// what was counted is remembered. Not thread-safe.
class Map {
 public:
  // The topology must outlive it. Of more than `most_counted` ranks those of some nodes are counted, which stand for
  // all: quick enough for a call that has to be decided. What leaves a rack is counted exactly, unless the ranks of
  // racks are scattered: few messages do, and they decide.
  explicit Map(const Topology& topology, Rank most_counted = 2048);

  // The ranks that take part in a round.
  enum class Group : std::uint8_t {
    all,
    nodes,         // one rank of each node; those of a rack are consecutive
    racks,         // one rank of each rack
    nodes_of_rack  // in each rack, one rank of each of its nodes
  };
  Rank ranks(Group group) const { return place(group).ranks; }
  Rank ranks() const { return ranks(Group::all); }
  Rank nodes() const { return ranks(Group::nodes); }
  Rank racks() const { return ranks(Group::racks); }
  // The most on any node.
  Rank ranks_per_node() const { return ranks_per_node_; }
  // Levels as compose::levels_of counts them.
  int levels() const { return levels_; }
  Group leaders(int level) const;

  enum class Pattern : std::uint8_t { shift, exchange, tree };
  struct Flows {
    double messages = 0;  // in all
    double leaving = 0;   // the most that leave a node, or enter one
    double climbing = 0;  // the most that leave a rack, or enter one
    double outside = 0;   // of all messages, the fraction that leaves a node
    double far = 0;       // likewise, a rack
  };
  // Rounds of Outline. A tree is that of a root, which is a rank of the group.
  Flows flows(Group group, Pattern pattern, Rank distance, Rank root = 0);

 private:
  struct Place {
    Rank ranks = 1;
    std::vector<Rank> members;  // ranks of the communicator; none: all
    std::vector<Rank> sample;   // the ranks of the group that are counted
    std::optional<Runs> racks;  // where those don't tell what leaves a rack
  };
  struct Known {
    bool known = false;
    Group group = Group::all;
    Pattern pattern = Pattern::shift;
    Rank distance = 0;
    Rank root = 0;
    Flows flows;
  };

  const Place& place(Group group) const { return places_[static_cast<std::size_t>(group)]; }
  std::int32_t rack_of(Rank rank) const { return topology_->domain_number(std::max(0, levels_ - 1), rank); }
  Flows counted(const Place& of, Pattern pattern, Rank distance, Rank root);

  const Topology* topology_;
  Rank most_counted_;
  std::array<Place, 4> places_;
  Rank ranks_per_node_ = 1;
  int levels_ = 0;
  std::vector<Known> known_ = std::vector<Known>(256);
  // By node and by rack: messages out and in, while they are counted.
  std::vector<std::array<std::int32_t, 2>> node_counts_;
  std::vector<std::array<std::int32_t, 2>> rack_counts_;
  std::vector<std::int32_t> touched_nodes_;
  std::vector<std::int32_t> touched_racks_;
};

}  // namespace quadrille::cost
