// The experiments of the papers at their own size, predicted: writes docs/papers/*.svg and the tables of
// docs/explanation/papers.md.
//
//     papers MACHINES FOLDER    the folder of machine files; where plots go. The tables are printed.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "cost/built_in.hpp"
#include "cost/machine_file.hpp"
#include "cost/simulation.hpp"
#include "draw/plot.hpp"
#include "files/replace.hpp"
#include "select/selector.hpp"

namespace {

using namespace quadrille;

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

struct Machine {
  cost::Model model;
  std::int64_t slots = 320 * kib;
};

struct Call {
  Collective collective;
  std::string_view algorithm;
  std::int64_t bytes = 0;  // of a rank's own data
  bool in_place = false;
  std::int64_t segment = 0;
};

double seconds_of(const Machine& machine, const Topology& topology, const Call& call) {
  const Rank ranks = topology.domain(0, 0).size();
  const Selector selector(
      Preferences(), {}, ranks,
      {.topology = &topology, .slot_bytes = machine.slots, .offloads = machine.model.offload.latency > 0});
  Case asked = case_of_bytes(call.collective, call.bytes, selector.placement());
  asked.in_place = call.in_place;
  Variant variant = variant_named(call.collective, call.algorithm);
  variant.segment = call.segment;
  const Requirements& requirements = selector.requirements();
  if (!requirements.can_run(variant, asked)) throw std::invalid_argument(fmt::format("{}: refused", call.algorithm));
  const Variant completed = requirements.completed(variant, asked);
  const Problem problem = requirements.problem(completed, asked);
  return cost::simulate(completed.algorithm(), problem, asked.unit_bytes, topology, machine.model).time();
}

// By the best of a few segments.
double best_seconds(const Machine& machine, const Topology& topology, Call call) {
  double best = seconds_of(machine, topology, call);
  for (const std::int64_t segment : {32 * kib, 128 * kib}) {
    if (segment * 2 > call.bytes) continue;
    call.segment = segment;
    best = std::min(best, seconds_of(machine, topology, call));
  }
  return best;
}

Machine read(const std::string& folder, const char* name) {
  return {cost::read_machine(folder + "/" + name, cost::built_in(cost::NetworkKind::bypass)).model};
}

draw::Series line(std::string name) {
  return {std::move(name), {}};
}

void add(draw::Series& series, double x, double y) {
  series.points.push_back({x, y});
}

void write(const std::string& folder, const char* name, const draw::Plot& plot) {
  files::replace_file(folder + "/" + name, draw::plot(plot));
}

std::string micro(double seconds) {
  return fmt::format("{:.1f}", 1e6 * seconds);
}

// Figure 12: short calls, 8 bytes.
void short_calls(const Machine& power7, const std::string& folder) {
  draw::Series flat = line("flat");
  draw::Series hybrid = line("hierarchical");
  draw::Series unit = line("offloaded");
  draw::Series trees = line("flat");
  draw::Series levels = line("hierarchical");
  fmt::print(
      "| cores | allreduce, flat | hierarchical | offloaded | bcast, flat | hierarchical "
      "|\n|---|---|---|---|---|---|\n");
  for (Rank ranks = 32; ranks <= 4096; ranks *= 2) {
    const Topology topology = Topology::nodes(ranks, 32);
    const auto time = [&](Collective collective, std::string_view algorithm) {
      return seconds_of(power7, topology, {collective, algorithm, 8});
    };
    const double flat_sum = time(Collective::allreduce, "recursive_doubling");
    const double hybrid_sum = time(Collective::allreduce, "hierarchical");
    const double unit_sum = ranks > 32 ? time(Collective::allreduce, "offloaded") : 0;
    const double tree = time(Collective::bcast, "binomial");
    const double level = time(Collective::bcast, "hierarchical");
    fmt::print("| {} | {} | {} | {} | {} | {} |\n", ranks, micro(flat_sum), micro(hybrid_sum),
               unit_sum > 0 ? micro(unit_sum) : "", micro(tree), micro(level));
    add(flat, ranks, flat_sum);
    add(hybrid, ranks, hybrid_sum);
    if (unit_sum > 0) add(unit, ranks, unit_sum);
    add(trees, ranks, tree);
    add(levels, ranks, level);
  }
  draw::Series their_flat = line("flat, the paper");
  draw::Series their_hybrid = line("with hardware, the paper");
  add(their_flat, 4096, 24e-6);
  add(their_hybrid, 2048, 18e-6);
  draw::Series their_tree = line("flat, the paper");
  draw::Series their_levels = line("hierarchical, the paper");
  add(their_tree, 4096, 40e-6);
  add(their_levels, 4096, 26e-6);
  write(folder, "hybrid-short.svg",
        {.heading = "Power7 IH: calls of 8 bytes",
         .subheading = "predicted, 32 ranks a node; single marks are the paper's",
         .x = {"ranks", draw::Quantity::number},
         .y = {"time", draw::Quantity::seconds},
         .panels = {{"allreduce", {flat, hybrid, unit, their_flat, their_hybrid}},
                    {"bcast", {trees, levels, their_tree, their_levels}}}});
}

// Figure 13: MB/s of each task, by the pure tree and by the hybrid.
struct Bandwidth {
  std::int64_t bytes;
  std::array<double, 3> tree;  // of the paper, on 32, 512 and 4,096 cores
  std::array<double, 3> hybrid;
};
constexpr std::array<Rank, 3> bandwidth_ranks = {32, 512, 4096};
constexpr Bandwidth bandwidths[] = {{1000, {60, 25, 19}, {210, 54, 31}},
                                    {64 * kib, {237, 107, 79}, {766, 427, 275}},
                                    {mib, {421, 302, 228}, {1860, 520, 344}}};

void long_calls(const Machine& power7, const std::string& folder) {
  std::vector<draw::Panel> panels;
  fmt::print("\n| cores | bytes | tree, paper | predicted | hybrid, paper | predicted | gain, paper | predicted |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < bandwidth_ranks.size(); ++i) {
    const Topology topology = Topology::nodes(bandwidth_ranks[i], 32);
    std::vector<draw::Series> lines = {line("tree"), line("tree, the paper"), line("hierarchical"),
                                       line("hierarchical, the paper")};
    for (const Bandwidth& one : bandwidths) {
      const double bytes = static_cast<double>(one.bytes);
      const double tree = bytes / seconds_of(power7, topology, {Collective::bcast, "binomial", one.bytes});
      const double hybrid = bytes / best_seconds(power7, topology, {Collective::bcast, "hierarchical", one.bytes});
      fmt::print("| {} | {} | {} | {:.0f} | {} | {:.0f} | {:.2f} | {:.2f} |\n", bandwidth_ranks[i], one.bytes,
                 one.tree[i], tree / 1e6, one.hybrid[i], hybrid / 1e6, one.hybrid[i] / one.tree[i], hybrid / tree);
      const std::array values = {tree, 1e6 * one.tree[i], hybrid, 1e6 * one.hybrid[i]};
      for (std::size_t k = 0; k < values.size(); ++k) add(lines[k], bytes, values[k]);
    }
    panels.push_back({fmt::format("{} ranks", bandwidth_ranks[i]), lines});
  }
  write(folder, "hybrid-long.svg",
        {.heading = "Power7 IH: bcast by a tree and by levels",
         .subheading = "predicted, and as the paper measured it; 32 ranks a node",
         .x = {"bytes", draw::Quantity::bytes},
         .y = {"bytes a second of a rank", draw::Quantity::bytes_a_second},
         .panels = panels});
}

// Figure 5 of the symmetric paper: orders of partners, in place.
void orders(const Machine& juropa, const std::string& folder, std::int64_t bytes) {
  constexpr std::array names = {"by_rank", "linear_shift", "hierarchical_sets", "tournament", "hierarchical_factor"};
  std::vector<draw::Series> lines;
  fmt::print("\n| ranks |");
  for (const char* name : names) {
    lines.push_back(line(name));
    fmt::print(" {} |", name);
  }
  fmt::print(" by_rank / best |\n|---|---|---|---|---|---|---|\n");
  for (Rank ranks = 8; ranks <= 128; ranks *= 2) {
    const Topology topology = Topology::nodes(ranks, 8);
    double best = 1e9;
    double theirs = 0;
    fmt::print("| {} |", ranks);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double time = seconds_of(juropa, topology, {Collective::alltoall, names[i], bytes, true});
      fmt::print(" {:.1f} |", 1e3 * time);
      add(lines[i], ranks, time);
      best = std::min(best, time);
      if (i == 0) theirs = time;
    }
    fmt::print(" {:.2f} |\n", theirs / best);
  }
  write(folder, "orders.svg",
        {.heading = "JuRoPA: all-to-all in place, by the order of partners",
         .subheading = fmt::format("predicted, {} MiB a rank, 8 ranks a node", bytes / mib),
         .x = {"ranks", draw::Quantity::number},
         .y = {"time", draw::Quantity::seconds},
         .panels = {{"alltoall", lines}}});
}

// Broadcast trees against a linear one, each rank on a node of its own.
void trees(const Machine& machine) {
  fmt::print("\n| ranks | bytes | linear / binary | linear / binomial |\n|---|---|---|---|\n");
  for (const Rank ranks : {2, 16, 32, 64}) {
    const Topology topology = Topology::nodes(ranks, 1);
    for (const std::int64_t bytes : {std::int64_t{16}, 512 * kib, 32 * mib}) {
      const auto time = [&](std::string_view name) {
        // Of one segment: a binary tree here would be pipelined.
        return seconds_of(machine, topology, {Collective::bcast, name, bytes, false, bytes});
      };
      const double linear = time("linear");
      fmt::print("| {} | {} | {:.1f} | {:.1f} |\n", ranks, bytes, linear / time("binary"), linear / time("binomial"));
    }
  }
}

// Ranks in blocks on nodes and dealt over all of them: an allreduce on 33 ranks of 64 cores.
void placements(const Machine& gigabit) {
  std::vector<std::int32_t> dealt;
  for (Rank rank = 0; rank < 33; ++rank) dealt.push_back(rank % 16);
  const Topology block = Topology::nodes(33, 4);
  const Topology cyclic(33, {dealt});
  fmt::print("\n| bytes | block | cyclic | cyclic / block |\n|---|---|---|---|\n");
  for (const std::int64_t bytes : {kib, 16 * kib, 256 * kib, mib}) {
    const char* const name = bytes <= 2 * kib ? "recursive_doubling" : "rabenseifner";
    const double in_blocks = seconds_of(gigabit, block, {Collective::allreduce, name, bytes});
    const double around = seconds_of(gigabit, cyclic, {Collective::allreduce, name, bytes});
    fmt::print("| {} | {:.2f} ms | {:.2f} ms | {:.2f} |\n", bytes, 1e3 * in_blocks, 1e3 * around, around / in_blocks);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: papers MACHINES FOLDER\n");
    return 2;
  }
  const std::string machines = argv[1];
  const std::string folder = argv[2];
  const Machine power7 = read(machines, "power7-ih.json");
  short_calls(power7, folder);
  long_calls(power7, folder);
  orders(read(machines, "juropa.json"), folder, 16 * mib);
  trees(read(machines, "juropa.json"));
  placements(read(machines, "gigabit-16x4.json"));
  return 0;
}
