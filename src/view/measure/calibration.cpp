#include "measure/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "algorithms/catalogue.hpp"
#include "select/prices.hpp"

namespace quadrille::measure {

namespace {

using Where = Experiment::Where;

constexpr std::int64_t tiny_segment = 64;

// Collectives that no rank can end before all have begun: they are timed in a row, without what it takes to begin.
constexpr std::array on_a_node = {
    Experiment{"memory.flag_us", Where::node, Collective::barrier, "hierarchical"},
    Experiment{"memory.copy_ns_per_byte", Where::node, Collective::allgather, "hierarchical", 32768},
    Experiment{"core.reduce_ns_per_byte", Where::node, Collective::allreduce, "hierarchical", 65536},
    Experiment{"node.overhead_us", Where::node, Collective::allreduce, "segmented_ring", 8192, tiny_segment},
    Experiment{"node.latency_us", Where::node, Collective::allgather, "ring", 8},
    Experiment{"node.rendezvous_us", Where::node, Collective::allgather, "ring", 8192},
    Experiment{"node.work_ns_per_byte", Where::node, Collective::allgather, "ring", 262144},
};
constexpr std::array between_nodes = {
    Experiment{"network.overhead_us", Where::network, Collective::allreduce, "segmented_ring", 8192, tiny_segment},
    Experiment{"network.latency_us", Where::network, Collective::allgather, "ring", 8},
    Experiment{"network.wire_ns_per_byte", Where::network, Collective::allgather, "ring", 131072},
};
// An uplink is seen when all nodes of a rack use it. By one connection of each at a time: an exchange of all ranks with
// all others at once took twice as long on uplinks of 20 Mbit/s, which then seemed as slow as that.
constexpr std::array between_racks = {
    Experiment{"rack.overhead_us", Where::rack, Collective::allreduce, "segmented_ring", 8192, tiny_segment},
    Experiment{"rack.latency_us", Where::rack, Collective::allgather, "ring", 8},
    Experiment{"rack.wire_ns_per_byte", Where::leaders, Collective::alltoall, "pairwise", 262144},
};
constexpr Experiment short_of_cores = {"core.wake_us", Where::all, Collective::barrier, "dissemination"};
constexpr Experiment all_at_once = {"network.work_ns_per_byte", Where::all, Collective::allgather, "ring", 4096};

constexpr Experiment to_each_other = {"network.exchange", Where::leaders, Collective::allgather, "recursive_doubling",
                                      8192};
constexpr Experiment offloaded = {
    "offload.latency_us", Where::leaders, Collective::allreduce, "recursive_doubling", 8, 0, "offloaded"};

// Two ranks.
Topology pair_at(Where where) {
  if (where == Where::node) return Topology::nodes(2, 2);
  if (where == Where::network) return Topology::nodes(2, 1);
  return {2, {{0, 1}, {0, 1}}};
}

// The first rank of each node, in the racks that it is in.
Topology leaders_of(const Topology& whole) {
  const std::vector<Rank>& leaders = whole.first_of_domains(whole.levels() - 1);
  std::vector<std::vector<std::int32_t>> names;
  for (int level = 1; level < whole.levels(); ++level) {
    names.emplace_back();
    for (const Rank leader : leaders) names.back().push_back(whole.domain_number(level, leader));
  }
  return {static_cast<Rank>(leaders.size()), names};
}

Case case_of(const Experiment& experiment, const Topology& topology) {
  const int nodes = topology.levels() - 1;
  return case_of_bytes(experiment.collective, experiment.bytes,
                       {.ranks = topology.domain(0, 0).size(),
                        .nodes = topology.domains(nodes),
                        .ranks_per_node = topology.largest_domain(nodes)});
}

// The value of a number that makes a price so long; prices grow with it. One that makes no difference stays as it is.
template <class Price>
double solve(double seconds, double usual, Price&& price) {
  double low = 0;
  double high = std::max(usual, 1e-6) * 1e6;
  if (price(low) == price(high)) return usual;
  if (price(low) >= seconds) return low;
  for (int i = 0; i < 100; ++i) {
    const double middle = low > 0 ? std::sqrt(low * high) : high * 1e-9;
    if (middle <= low || middle >= high) break;
    (price(middle) < seconds ? low : high) = middle;
  }
  return (low + high) / 2;
}

bool has_rival(const Result& one) {
  return !one.experiment.rival.empty();
}

// A network that reduces by itself is faster than any messages; a clever algorithm or luck is not so much. Its wires
// carry every byte twice, up and down.
void learn_offload(cost::Machine& machine, const Result& one) {
  constexpr double clearly = 1.5;
  constexpr double microsecond = 1e-6;
  if (one.of_rival.high == 0 || one.of_rival.high * clearly > one.seconds.low) return;
  machine.model.offload = {.latency = one.of_rival.middle, .byte = 2 * machine.model.network.wire};
  machine.intervals[std::string(offloaded.number)] = {one.of_rival.low / microsecond, one.of_rival.high / microsecond};
}

}  // namespace

std::vector<Experiment> experiments(const Ground& ground) {
  std::vector<Experiment> all;
  const auto add = [&](bool wanted, const auto& some) {
    if (wanted) all.insert(all.end(), some.begin(), some.end());
  };
  add(ground.pair_on_node, on_a_node);
  add(ground.several_nodes, between_nodes);
  if (ground.oversubscribed) all.push_back(short_of_cores);
  if (ground.several_nodes) all.push_back(all_at_once);
  if (ground.more_than_two_nodes) all.push_back(to_each_other);
  add(ground.several_racks, between_racks);
  if (ground.several_nodes) all.push_back(offloaded);
  return all;
}

double price(const Experiment& experiment, const cost::Model& model, const Setting& all) {
  const bool pair = experiment.where < Where::leaders;
  const Topology& whole = *all.topology;
  const Topology some = pair ? pair_at(experiment.where) : leaders_of(whole);
  const Topology& topology = experiment.where == Where::all ? whole : some;
  const std::int64_t segment = experiment.segment > 0 ? experiment.segment : all.segment;
  const Requirements requirements(
      {.topology = &topology, .slot_bytes = all.slot_bytes, .crowded = all.crowded && !pair}, std::int64_t{1} << 30,
      segment);
  // Two ranks have the cores to themselves.
  cost::Model own = model;
  if (pair) own.cores = 0;
  Prices prices(own, requirements, segment);
  return prices.price(variant_named(experiment.collective, experiment.algorithm), case_of(experiment, topology));
}

void calibrate(cost::Machine& machine, std::span<const Result> measured, const Setting& all) {
  std::vector<Result> results(measured.begin(), measured.end());
  std::erase_if(results, has_rival);
  const cost::Model before = machine.model;
  const auto value_for = [&](const Experiment& experiment, double seconds) {
    return solve(seconds, number(before, experiment.number), [&](double value) {
      cost::Model tried = machine.model;
      set_number(tried, experiment.number, value);
      return price(experiment, tried, all);
    });
  };
  // Each number depends on those before it much, and a little on those after it.
  constexpr int times = 4;
  for (int time = 0; time < times; ++time) {
    for (const Result& one : results) {
      set_number(machine.model, one.experiment.number, value_for(one.experiment, one.seconds.middle));
    }
  }
  for (const Result& one : results) {
    machine.intervals[std::string(one.experiment.number)] = {value_for(one.experiment, one.seconds.low),
                                                             value_for(one.experiment, one.seconds.high)};
  }
  const auto one = std::find_if(measured.begin(), measured.end(), has_rival);
  if (one != measured.end()) learn_offload(machine, *one);
}

std::string to_text(const cost::Machine& machine, const cost::Model& before) {
  std::string text = fmt::format("{:<26} {:>10}  {:<21} {:>10}\n", "", "measured", "interval", "built in");
  for (const auto& [name, ends] : machine.intervals) {
    text += fmt::format("{:<26} {:>10.4g}  {:<21} {:>10.4g}\n", name, number(machine.model, name),
                        fmt::format("{:.3g} to {:.3g}", ends[0], ends[1]), number(before, name));
  }
  return text;
}

}  // namespace quadrille::measure
