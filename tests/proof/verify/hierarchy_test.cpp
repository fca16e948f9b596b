#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "algorithms/catalogue.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"
#include "topology/topology.hpp"
#include "verify/proof.hpp"

namespace quadrille {
namespace {

std::vector<Collective> composed() {
  std::vector<Collective> all;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->name == "hierarchical") all.push_back(algorithm->collective);
  }
  return all;
}

// Nodes of `per_node` ranks, with levels above that join three domains each; if `uneven`, every other node has only one
// rank.
Topology machine(Rank nodes, Rank per_node, int levels, bool uneven) {
  std::vector<std::vector<std::int32_t>> names(static_cast<std::size_t>(levels - 1));
  for (Rank node = 0; node < nodes; ++node) {
    const Rank ranks = uneven && node % 2 == 1 ? (per_node + 1) / 2 : per_node;
    for (Rank rank = 0; rank < ranks; ++rank) {
      Rank around = node;
      for (auto level = names.rbegin(); level != names.rend(); ++level, around /= 3) level->push_back(around);
    }
  }
  return {static_cast<Rank>(names.front().size()), names};
}

struct Data {
  std::int64_t count;
  std::int64_t room;
  std::int64_t segment;
};

// Collectives with a block or share per rank take minutes on large machines: without QUADRILLE_PROVE_ALL only some are
// proved.
bool is_left_out(Rank ranks) {
  static const bool all = std::getenv("QUADRILLE_PROVE_ALL") != nullptr;
  return !all && ranks > 24 && ranks % 11 != 0;
}

std::string prove_on(const Topology& topology, Rank ranks, const Data& data) {
  for (const Collective collective : composed()) {
    if (traits(collective).in_blocks() && is_left_out(ranks)) continue;
    const Algorithm& algorithm = *find_algorithm(collective, "hierarchical");
    std::vector<Rank> roots = {0};
    // A leader, the next rank, one of another node, the last rank.
    if (traits(collective).rooted) roots = {0, std::min(1, ranks - 1), ranks / 2, ranks - 1};
    for (const Rank root : roots) {
      const Problem problem{.ranks = ranks,
                            .root = root,
                            .count = traits(collective).moves_data() ? data.count : 0,
                            .commutative = false,
                            .segment = algorithm.segmented ? data.segment : 0,
                            .topology = &topology,
                            .room = traits(collective).in_blocks() ? ranks * data.room : data.room};
      const verify::ProofResult verdict = verify::prove(verify::subject_of(algorithm, problem));
      if (!verdict.proved()) {
        return fmt::format("{} from {}, count {}, room {}: {}", name(collective), root, data.count, data.room,
                           verdict.fault);
      }
    }
  }
  return {};
}

// Sanitizers are slow: a few sizes suffice.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr Rank step = 5;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr Rank step = 5;
#else
constexpr Rank step = 1;
#endif
#else
constexpr Rank step = 1;
#endif

class Hierarchy : public testing::TestWithParam<int> {};

TEST_P(Hierarchy, IsProvedForAllNumbersOfNodesAndRanksOnThem) {
  const int levels = GetParam();
  for (Rank nodes = 1; nodes <= 17; nodes += step) {
    for (Rank per_node = 1; per_node <= 9; per_node += step) {
      for (const bool uneven : {false, true}) {
        const Topology topology = machine(nodes, per_node, levels, uneven);
        const auto ranks = static_cast<Rank>(topology.domain(0, 0).size());
        // In one piece, and in pieces that don't divide the data; each case uses every second number.
        const Data data = (nodes + per_node + (uneven ? 1 : 0)) % 2 == 0 ? Data{5, 100, 0} : Data{13, 8, 3};
        ASSERT_EQ(prove_on(topology, ranks, data), "")
            << levels << " levels, " << nodes << " nodes of " << per_node << (uneven ? ", uneven" : "");
      }
    }
  }
}

TEST_P(Hierarchy, DividesLongPiecesAmongRanks) {
  const int levels = GetParam();
  for (const Rank nodes : {1, 3}) {
    for (const Rank per_node : {2, 3}) {
      const Topology topology = machine(nodes, per_node, levels, false);
      for (const Data& data : {Data{2000, 5000, 0}, Data{9000, 5400, 600}}) {
        ASSERT_EQ(prove_on(topology, nodes * per_node, data), "") << nodes << " nodes of " << per_node;
      }
    }
  }
}

// A node of many ranks that each have a core.
Problem on_fat_node(Collective collective, Rank ranks, std::int64_t bytes, const Topology* topology = nullptr) {
  constexpr std::int64_t element = 8;
  return {.ranks = ranks,
          .count = traits(collective).moves_data() ? bytes / element : 0,
          .topology = topology,
          .room = std::int64_t{1} << 15,
          .unit_bytes = element};
}

// How often a rank runs each operation.
template <class Visit>
void visit(const Schedule& schedule, const Visit& operation) {
  for (const Operation& one : schedule.operations) {
    operation(one, one.loop < 0 ? 1 : schedule.loops[static_cast<std::size_t>(one.loop)].iterations);
  }
}

std::int64_t bytes_read_of_others(const Schedule& schedule, std::int64_t unit_bytes) {
  std::int64_t units = 0;
  visit(schedule, [&](const Operation& operation, std::int64_t times) {
    const auto regions = schedule.regions_of(operation);
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const bool others =
          regions[i].buffer == Buffer::slot && regions[i].owner != self && regions[i].owner != schedule.rank;
      if (others && !writes(operation.kind, static_cast<int>(i))) units += times * regions[i].length;
    }
  });
  return units * unit_bytes;
}

std::int64_t waits(const Schedule& schedule) {
  std::int64_t all = 0;
  visit(schedule, [&](const Operation& one, std::int64_t times) { all += one.kind == Kind::wait ? times : 0; });
  return all;
}

TEST(FatNode, NoRankReadsMuchMoreThanTheDataOrLooksAtManyCounters) {
  for (const Rank ranks : {17, 32, 100, 128}) {
    for (const std::int64_t bytes : {1032, 4096, 65536, 1 << 20}) {
      const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "hierarchical");
      Problem problem = on_fat_node(Collective::allreduce, ranks, bytes);
      for (Rank rank = 0; rank < ranks; rank += 15) {
        problem.rank = rank;
        EXPECT_LE(bytes_read_of_others(build(algorithm, problem), problem.unit_bytes), 4 * bytes) << ranks << " ranks";
      }
    }
    const Topology two_nodes = machine(2, ranks, 2, false);
    for (const bool alone : {true, false}) {
      Problem problem = on_fat_node(Collective::barrier, alone ? ranks : 2 * ranks, 0, alone ? nullptr : &two_nodes);
      for (Rank rank = 0; rank < problem.ranks; ++rank) {
        problem.rank = rank;
        EXPECT_LE(waits(build(*find_algorithm(Collective::barrier, "hierarchical"), problem)),
                  4 * patterns::ceil_log2(ranks))
            << rank << " of " << problem.ranks;
      }
    }
  }
}

TEST(FatNode, IsProved) {
  for (const Rank ranks : {17, 24, 128}) {
    for (const Rank nodes : {1, 2}) {
      const Topology topology = machine(nodes, ranks, 2, nodes > 1);
      const auto all = static_cast<Rank>(topology.domain(0, 0).size());
      for (const Collective collective : {Collective::barrier, Collective::reduce, Collective::allreduce}) {
        for (const std::int64_t bytes : {std::int64_t{40}, std::int64_t{2000}}) {
          for (const bool crowded : {false, true}) {
            Problem problem = on_fat_node(collective, all, bytes, &topology);
            problem.commutative = false;
            problem.crowded = crowded;
            const auto verdict =
                verify::prove(verify::subject_of(*find_algorithm(collective, "hierarchical"), problem));
            ASSERT_EQ(verdict.fault, "") << name(collective) << ", " << nodes << " nodes of " << ranks << ", " << bytes;
          }
        }
      }
    }
  }
}

TEST(Chains, OfAReduceAreProvedForAllNumbersOfNodesAndRanksOnThem) {
  const Algorithm& algorithm = *find_algorithm(Collective::reduce, "hierarchical");
  for (Rank nodes = 1; nodes <= 17; nodes += step) {
    for (Rank per_node = 1; per_node <= 9; per_node += step) {
      const int levels = 2 + (nodes + per_node) % 3;
      const Topology topology = machine(nodes, per_node, levels, per_node % 2 == 0);
      const auto ranks = static_cast<Rank>(topology.domain(0, 0).size());
      for (const Rank root : {0, ranks / 2, ranks - 1}) {
        const Problem problem{.ranks = ranks,
                              .root = root,
                              .count = 3 * nodes + 10,
                              .segment = 8,
                              .topology = &topology,
                              .room = nodes % 2 == 0 ? 16 : 1000};
        const verify::Subject subject = verify::subject_of(algorithm, problem);
        ASSERT_EQ(verify::prove(subject).fault, "") << levels << " levels, " << nodes << " nodes of " << per_node;
        // The root receives its result in segments.
        const std::vector<Operation>& of_root = subject.schedules[static_cast<std::size_t>(root)].operations;
        const auto in_segments = [](const Operation& one) { return one.kind == Kind::receive && one.loop >= 0; };
        ASSERT_TRUE(nodes == 1 || std::any_of(of_root.begin(), of_root.end(), in_segments));
      }
    }
  }
}

TEST(Rings, OfAnAllgatherAreProvedForAllNumbersOfNodesAndRanksOnThem) {
  const Algorithm& algorithm = *find_algorithm(Collective::allgather, "hierarchical");
  for (Rank nodes = 2; nodes <= 17; nodes += step) {
    for (Rank per_node = 1; per_node <= 9; per_node += step) {
      const Topology topology = machine(nodes, per_node, 2, false);
      const Rank ranks = nodes * per_node;
      if (is_left_out(ranks)) continue;
      const std::int64_t block = 8192;
      const Problem problem{.ranks = ranks,
                            .count = block + nodes,
                            .topology = &topology,
                            .room = nodes % 2 == 0 ? 3 * block * ranks : block * ranks};
      const verify::Subject subject = verify::subject_of(algorithm, problem);
      ASSERT_EQ(verify::prove(subject).fault, "") << nodes << " nodes of " << per_node;
      const std::vector<Operation>& leaders = subject.schedules.front().operations;
      const auto is_send = [](const Operation& one) { return one.kind == Kind::send; };
      const std::int64_t messages = std::clamp<std::int64_t>(per_node * problem.count / 16384, 1, 4);
      ASSERT_EQ(std::count_if(leaders.begin(), leaders.end(), is_send), (nodes - 1) * messages);
    }
  }
}

// Nodes of different sizes have different numbers of messages for their blocks; ranks may lie anywhere.
TEST(Rings, OfAnAllgatherAreProvedOnUnevenAndScatteredNodes) {
  const Algorithm& algorithm = *find_algorithm(Collective::allgather, "hierarchical");
  const std::vector<std::int32_t> uneven = {0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 3, 3};
  const std::vector<std::int32_t> cyclic = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 0, 1};
  const std::vector<std::int32_t> racks = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  for (const Topology& topology : {Topology(13, {uneven}), Topology(13, {cyclic}), Topology(13, {racks, uneven})}) {
    for (const std::int64_t count : {1200, 8192, 40001}) {
      const Problem problem{.ranks = 13, .count = count, .topology = &topology, .room = 8 * count};
      EXPECT_EQ(verify::prove(verify::subject_of(algorithm, problem)).fault, "") << count;
    }
  }
}

// Where segments are short: 2 (l - 1) messages of each leader.
TEST(Rings, OfAnAllreduceAndAReduceScatterAreProved) {
  const auto sends = [](const verify::Subject& subject) {
    const std::vector<Operation>& leaders = subject.schedules.front().operations;
    return std::count_if(leaders.begin(), leaders.end(), [](const Operation& one) { return one.kind == Kind::send; });
  };
  for (Rank nodes = 2; nodes <= 9; ++nodes) {
    for (const bool even : {true, false}) {
      const Rank ranks = even ? 5 * nodes : 5 * nodes - 1;
      const Topology topology = Topology::nodes(ranks, 5);
      const std::int64_t count = 1024 * nodes;
      const Problem all{.ranks = ranks, .count = count, .segment = 1000, .topology = &topology, .room = 3 * count};
      const verify::Subject sum = verify::subject_of(*find_algorithm(Collective::allreduce, "hierarchical"), all);
      EXPECT_EQ(verify::prove(sum).fault, "") << nodes;
      EXPECT_EQ(sends(sum), 2 * (nodes - 1)) << nodes;
      const Problem shares{
          .ranks = ranks, .count = 700, .segment = 500, .topology = &topology, .room = 3 * 700 * ranks};
      const verify::Subject share =
          verify::subject_of(*find_algorithm(Collective::reduce_scatter_block, "hierarchical"), shares);
      EXPECT_EQ(verify::prove(share).fault, "") << nodes;
      EXPECT_GE(sends(share), 3 * (nodes - 1)) << nodes << ": each share in several messages";
    }
  }
}

TEST(Rails, AreProvedForAllNumbersOfNodesAndRanksOnThem) {
  const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "hierarchical");
  for (Rank nodes = 2; nodes <= 17; nodes += step) {
    for (Rank per_node = 2; per_node <= 9; per_node += step) {
      const Topology topology = machine(nodes, per_node, 2, false);
      const Rank ranks = nodes * per_node;
      if (is_left_out(ranks)) continue;
      // In one piece and in several, divisible by the ranks of a node and not.
      const bool cut = (nodes + per_node) % 2 == 0;
      const Problem problem{.ranks = ranks,
                            .count = 2 * ranks + nodes % per_node,
                            .commutative = per_node % 2 == 0,
                            .segment = 8,
                            .topology = &topology,
                            .room = (cut ? 16 : 1000) * per_node};
      const verify::Subject subject = verify::subject_of(algorithm, problem);
      ASSERT_EQ(verify::prove(subject).fault, "") << nodes << " nodes of " << per_node;
      // Not only leaders send.
      const std::vector<Operation>& last = subject.schedules.back().operations;
      ASSERT_TRUE(std::any_of(last.begin(), last.end(), [](const Operation& one) { return one.kind == Kind::send; }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Hierarchy, testing::Values(2, 3, 4));

// As in the engine: each run uses a lane with its own counters and slots, in turn, and starts only when every rank of
// the node has completed the previous run in that lane. Counters of a lane continue from the previous run.
class InLanes {
 public:
  // `gated`: with the wait for the others.
  InLanes(const Topology& topology, std::int32_t lanes, Unit unit, bool gated = true)
      : topology_(topology), lanes_(lanes), unit_(unit), gated_(gated), bases_(static_cast<std::size_t>(lanes)) {}

  void add(verify::Subject subject) {
    const std::int32_t lane = run_ % lanes_;
    std::int64_t& base = bases_[static_cast<std::size_t>(lane)];
    const std::int64_t span = subject.schedules.front().counter_span;
    for (Schedule& schedule : subject.schedules) move_to(schedule, lane, base);
    if (gated_ && run_ >= lanes_) add_gate();
    subjects_.push_back(std::move(subject));
    base += span + 1;  // counters must increase
    add_end(lane, base);
    ++run_;
  }

  verify::Subject all() const {
    verify::Subject all = verify::in_a_row(subjects_);
    for (Schedule& schedule : all.schedules) schedule.counter_span = 1 << 20;
    return all;
  }

 private:
  static constexpr std::int32_t counters_a_lane = 8;
  static constexpr std::int32_t slots_a_lane = 4;
  std::int32_t ended() const { return lanes_ * counters_a_lane; }

  void move_to(Schedule& schedule, std::int32_t lane, std::int64_t base) const {
    ASSERT_LE(schedule.counters, counters_a_lane);
    ASSERT_LE(schedule.slots.size(), static_cast<std::size_t>(slots_a_lane));
    for (Operation& operation : schedule.operations) {
      if (operation.kind != Kind::publish && operation.kind != Kind::wait) continue;
      operation.counter += lane * counters_a_lane;
      operation.value += base;
    }
    for (Region& region : schedule.regions) {
      if (region.buffer == Buffer::slot) region.block += lane * slots_a_lane;
    }
    schedule.slots.insert(schedule.slots.begin(), static_cast<std::size_t>(lane * slots_a_lane), 1);
    schedule.counters = ended() + 1;
    schedule.counter_span = 0;
  }
  void add_gate() {
    add_made([&](Builder& builder, Rank rank) {
      const Group node = topology_.domain(topology_.levels() - 1, rank);
      for (Rank peer = 0; peer < node.size(); ++peer) {
        if (node[peer] != rank) builder.wait(node[peer], ended(), run_ - lanes_ + 1);
      }
    });
  }
  void add_end(std::int32_t lane, std::int64_t base) {
    add_made([&](Builder& builder, Rank) {
      builder.in_order([&] {
        for (std::int32_t i = 0; i < counters_a_lane; ++i) builder.publish(lane * counters_a_lane + i, base);
        builder.publish(ended(), run_ + 1);
      });
    });
  }
  template <class Body>
  void add_made(Body&& body) {
    verify::Subject subject;
    subject.units = [](Rank, Buffer, std::int32_t) { return std::int64_t{-1}; };
    subject.given = [](Rank, Buffer, std::int32_t) { return false; };
    const Rank ranks = topology_.domain(0, 0).size();
    for (Rank rank = 0; rank < ranks; ++rank) {
      Builder builder(rank, ranks, unit_);
      builder.counters(ended() + 1, 0);
      body(builder, rank);
      subject.schedules.push_back(builder.finish());
    }
    subject.meanings.resize(static_cast<std::size_t>(ranks));
    subjects_.push_back(std::move(subject));
  }

  const Topology& topology_;
  std::int32_t lanes_;
  Unit unit_;
  bool gated_;
  std::int32_t run_ = 0;
  std::vector<std::int64_t> bases_;
  std::vector<verify::Subject> subjects_;
};

verify::Subject run_of(Collective collective, const Topology& topology, Rank root, const Data& data) {
  const Algorithm& algorithm = *find_algorithm(collective, "hierarchical");
  return verify::subject_of(algorithm, {.ranks = topology.domain(0, 0).size(),
                                        .root = root,
                                        .count = data.count,
                                        .segment = algorithm.segmented ? data.segment : 0,
                                        .topology = &topology,
                                        .room = data.room});
}

TEST(HierarchyInARow, SlotsAreSafeForTheNextCollectiveInTheLane) {
  for (const auto& [nodes, per_node] : {std::pair{1, 4}, std::pair{3, 3}, std::pair{2, 2}}) {
    const Topology topology = machine(nodes, per_node, 2, false);
    const Rank ranks = topology.domain(0, 0).size();
    for (const std::int32_t lanes : {1, 2}) {
      for (const Data& data : {Data{3, 100, 0}, Data{13, 8, 3}}) {
        // Five of the same with other roots, and reductions of two kinds mixed.
        InLanes same(topology, lanes, Unit::bytes);
        InLanes mixed(topology, lanes, Unit::elements);
        for (int round = 0; round < 5; ++round) {
          const auto root = static_cast<Rank>((round * 2 + 1) % ranks);
          same.add(run_of(Collective::bcast, topology, root, data));
          mixed.add(run_of(round % 2 == 0 ? Collective::reduce : Collective::allreduce, topology,
                           round % 2 == 0 ? root : 0, data));
        }
        for (const InLanes* row : {&same, &mixed}) {
          EXPECT_EQ(verify::prove(row->all()).fault, "") << nodes << " x " << per_node << ", " << lanes << " lanes";
        }
      }
    }
  }
}

TEST(HierarchyInARow, WithoutTheWaitForOthersTheProofFindsTheRace) {
  const Topology topology = machine(1, 4, 2, false);
  InLanes row(topology, 2, Unit::bytes, false);
  for (int round = 0; round < 3; ++round) row.add(run_of(Collective::bcast, topology, 1, {3, 100, 0}));
  EXPECT_EQ(verify::prove(row.all()).fault.rfind("race on a slot", 0), 0U);
}

}  // namespace
}  // namespace quadrille
