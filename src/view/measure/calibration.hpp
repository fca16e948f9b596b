#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/collective.hpp"
#include "cost/machine_file.hpp"
#include "measure/statistics.hpp"
#include "topology/topology.hpp"

namespace quadrille::measure {

// A collective that is timed for the sake of one number of a machine's model: with the other numbers known, it is the
// one that makes the price what was measured. So whatever the model leaves out is in the numbers, where it matters.
struct Experiment {
  // Which ranks take part: two of a node, of two nodes, of two racks, one of each node, or all.
  enum class Where : std::uint8_t { node, network, rack, leaders, all };

  std::string_view number;  // by its name in the machine file
  Where where = Where::node;
  Collective collective = Collective::barrier;
  std::string_view algorithm;
  std::int64_t bytes = 0;    // a rank's own data, as Case::bytes
  std::int64_t segment = 0;  // 0: the default
  // Another algorithm that is timed beside: the number is its time, if that is clearly less.
  std::string_view rival = {};
};

// What there is to learn from, in the order in which it is learned.
struct Ground {
  bool pair_on_node = false;  // some node has two ranks
  bool several_nodes = false;
  bool more_than_two_nodes = false;
  bool several_racks = false;
  bool oversubscribed = false;
};
std::vector<Experiment> experiments(const Ground& ground);

struct Result {
  Experiment experiment;
  Interval seconds;
  Interval of_rival = {};
};

// Where the ranks are, and what they have in their node's shared memory.
struct Setting {
  const Topology* topology = nullptr;
  std::int64_t slot_bytes = 0;
  std::int64_t segment = 32768;
  bool crowded = false;  // ranks share cores
};

// The price of an experiment.
double price(const Experiment& experiment, const cost::Model& model, const Setting& all);

// Sets the numbers that the experiments are for, and their intervals.
void calibrate(cost::Machine& machine, std::span<const Result> results, const Setting& all);

// As a table: each number as it is and as it was.
std::string to_text(const cost::Machine& machine, const cost::Model& before);

}  // namespace quadrille::measure
