#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quadrille::cost {

// What a message meets from one place to another.
struct Between {
  double latency = 0;  // seconds, of a short message
  double rate = 0;     // bytes a second, of a long one; 0: unknown
};

// What `quadrille probe --pairs` measured between nodes, with no other pair on the same links at that time.
struct Pairs {
  // The highest rates seen on the link of a node or the uplink of a rack; 0: unknown.
  struct Link {
    std::string name;
    double sends = 0;
    double receives = 0;
    std::int32_t rack = 0;  // of a node
  };
  struct Measured {
    std::int32_t from = 0;
    std::int32_t to = 0;
    Between found;
  };

  std::string source = {};  // in words
  std::vector<Link> nodes = {};
  std::vector<Link> racks = {};                // none: all nodes are on one switch, as far as is known
  std::map<std::string, Between> levels = {};  // the usual: "network", "rack" between racks, "node", "L3", ... inside
  std::vector<Measured> measured = {};         // by sender, then by receiver

  bool empty() const { return nodes.empty(); }
  std::optional<std::int32_t> node_named(std::string_view name) const;
  bool same_rack(std::int32_t one, std::int32_t other) const;

  const Measured* find(std::int32_t from, std::int32_t to) const;
  // What is usual on the links between two nodes: that of their level, and no more than what any of these links does.
  Between usual(std::int32_t from, std::int32_t to) const;
  // As measured, or as usual.
  Between between(std::int32_t from, std::int32_t to) const;
};

}  // namespace quadrille::cost
