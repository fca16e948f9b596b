#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/options.hpp"
#include "cost/machine_file.hpp"
#include "graph/decompose.hpp"
#include "hosts/hosts.hpp"
#include "placement/mapper.hpp"
#include "tools/source.hpp"

namespace quadrille::tools {

// What is to be placed, and where.
struct PlacingArguments {
  SourceArguments source;
  std::string hosts;                 // a file, or 16x4
  std::string cluster;               // the name of one that is up, instead
  std::string racks;                 // a file
  std::vector<std::string> fixed;    // 0=node3
  std::vector<std::string> without;  // node2
  std::vector<std::string> slow;     // node2=4
  std::string from;                  // a file that places ranks as they are today; empty: block by block
  std::uint64_t seed = 1;
};

// The hosts that ranks may be on, and what is known of them.
struct Field {
  std::vector<hosts::Host> hosts;
  placement::Ground ground;  // with a node for each of the hosts
  std::string machine;       // where its numbers are from
  std::string machine_file;  // empty: what is known of this machine

  const std::string& host(std::int32_t slot) const {
    return hosts[placement::index(ground.node_of[placement::index(slot)])].name;
  }
  std::vector<std::string> hosts_of(const placement::Placement& placement) const;
};

struct Placed {
  graph::Source source;
  Field field;
  std::vector<placement::Candidate> candidates;  // the quickest first
  placement::Candidate today;
  placement::Candidate best;  // that of today, if the others gain nothing

  bool gains() const { return best.method != today.method; }
  // The part of the time that is saved.
  double gain() const { return today.seconds > 0 ? 1 - best.seconds / today.seconds : 0; }
};

// Throws std::invalid_argument that says what is wrong with the arguments.
Placed place(const PlacingArguments& arguments);

// The hosts of --hosts. Throws std::invalid_argument.
std::vector<hosts::Host> hosts_named(const std::string& text);

}  // namespace quadrille::tools
