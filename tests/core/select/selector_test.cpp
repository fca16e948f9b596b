#include "select/selector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "select/memo.hpp"
#include "select/rules_of_thumb.hpp"
#include "topology/topology.hpp"

namespace quadrille {
namespace {

// A communicator of 8 ranks on 2 nodes, and a tuning table for it.
class SelectorTest : public testing::Test {
 protected:
  Selector selector() const { return {preferences, rules, 8, {.topology = &topology, .slot_bytes = 1 << 16}}; }
  Decision decide(const Case& asked, const Request& request = {}) const { return selector().decide(asked, request); }
  static std::string name(const Decision& decision) { return decision.native() ? "native" : name_of(decision.variant); }
  static Case allreduce(std::int64_t count) {
    return {.collective = Collective::allreduce,
            .ranks = 8,
            .nodes = 2,
            .ranks_per_node = 4,
            .count = count,
            .largest = count,
            .unit_bytes = 8,
            .unit_extent = 8};
  }
  // A machine whose shared memory costs nothing.
  static cost::Model with_free_memory() {
    cost::Model model;
    model.node = {.latency = 1e-6, .overhead = 1e-6, .work = 1e-9, .wire = 0, .eager = 4096, .rendezvous = 1e-6};
    model.network = {.latency = 1e-5, .overhead = 1e-6, .work = 1e-9, .wire = 1e-9, .eager = 4096, .rendezvous = 1e-5};
    model.rack = model.network;
    return model;
  }
  void add_rule(Collective collective, std::int64_t from, std::int64_t to, const char* variant) {
    rules.push_back({{collective, from, to, variant_named(collective, variant)}, 8, 2});
  }

  Topology topology = Topology::nodes(8, 4);
  Preferences preferences;
  std::vector<PlacedRule> rules;
};

TEST_F(SelectorTest, KnowsWhereItsRanksAre) {
  const Placement placement = selector().placement();
  EXPECT_EQ(placement.ranks, 8);
  EXPECT_EQ(placement.nodes, 2);
  EXPECT_EQ(placement.ranks_per_node, 4);
}

TEST_F(SelectorTest, TrustsTheCallThenTheEnvironmentThenTheTableThenRulesOfThumb) {
  EXPECT_EQ(name(decide(allreduce(1))), "recursive_doubling");
  EXPECT_EQ(decide(allreduce(1)).source(), Reason::Kind::usual);
  add_rule(Collective::allreduce, 8, 64, "pairwise");
  EXPECT_EQ(name(decide(allreduce(1))), "pairwise");
  EXPECT_EQ(decide(allreduce(1)).source(), Reason::Kind::rule);
  EXPECT_EQ(name(decide(allreduce(9))), "recursive_doubling");
  preferences.variants[static_cast<std::size_t>(Collective::allreduce)] = variant_named(Collective::allreduce, "ring");
  EXPECT_EQ(name(decide(allreduce(1))), "ring");
  EXPECT_EQ(decide(allreduce(1)).source(), Reason::Kind::environment);
  const Request request{.variant = variant_named(Collective::allreduce, "reduce_bcast")};
  EXPECT_EQ(name(decide(allreduce(1), request)), "reduce_bcast");
  EXPECT_EQ(decide(allreduce(1), request).source(), Reason::Kind::requested);
}

TEST_F(SelectorTest, LeavesToTheMpiWhatARuleLeavesToIt) {
  rules.push_back({{Collective::allreduce, 8, 64, {}}, 8, 2});
  const Request request{.native = Request::Native::unless_faster};
  const Decision decision = decide(allreduce(1), request);
  EXPECT_TRUE(decision.native());
  EXPECT_EQ(decision.source(), Reason::Kind::rule);
  EXPECT_EQ(text_of(decision.reasons().back()), "the tuning table has the MPI's own function for 8 to 64 bytes");
  // Where the MPI's own can't run, it is as no rule.
  EXPECT_EQ(name(decide(allreduce(1))), "recursive_doubling");
  EXPECT_EQ(decide(allreduce(1)).source(), Reason::Kind::usual);
}

TEST_F(SelectorTest, LeavesToTheMpiWhatNoRuleHoldsFor) {
  const Request request{.native = Request::Native::unless_faster};
  EXPECT_EQ(name(decide(allreduce(1), request)), "native");
  EXPECT_EQ(decide(allreduce(1), request).source(), Reason::Kind::no_rule);
  add_rule(Collective::allreduce, 8, 8, "ring");
  EXPECT_EQ(name(decide(allreduce(1), request)), "ring");
  EXPECT_EQ(name(decide(allreduce(2), request)), "native");
  // A ring needs an operation that commutes.
  Case asked = allreduce(1);
  asked.commutative = false;
  EXPECT_EQ(name(decide(asked, request)), "native");
  EXPECT_EQ(decide(asked, request).source(), Reason::Kind::restricted);
  EXPECT_EQ(name(decide(asked)), "recursive_doubling");
}

TEST_F(SelectorTest, KeepsToTheMemoryLimitOrSaysWhatItWouldTake) {
  Case asked = allreduce(1 << 20);
  asked.memory = 1 << 20;
  const Decision within = decide(asked);
  EXPECT_TRUE(within.fits);
  EXPECT_LE(within.needed, asked.memory);
  asked.memory = 100;
  const Decision refused = decide(asked);
  EXPECT_FALSE(refused.fits);
  EXPECT_GT(refused.needed, 100);
  EXPECT_TRUE(std::any_of(refused.reasons().begin(), refused.reasons().end(),
                          [](const Reason& one) { return one.kind == Reason::Kind::memory; }));
  const Decision passed = decide(asked, {.native = Request::Native::without_memory});
  EXPECT_TRUE(passed.native());
  EXPECT_EQ(passed.source(), Reason::Kind::memory);
}

TEST_F(SelectorTest, ByAModelOfTheMachineTheLeastTimeDecides) {
  Selector selects = selector();
  cost::Model model = with_free_memory();
  // Where shared memory costs nothing, it is what is taken; where it costs much, messages are.
  selects.set_model(model);
  const Decision through_memory = selects.decide(allreduce(100), {});
  EXPECT_EQ(name(through_memory), "hierarchical");
  EXPECT_EQ(through_memory.source(), Reason::Kind::price);
  EXPECT_LE(through_memory.reasons().back().first, through_memory.reasons().back().second);
  model.flag = 1;
  model.copy = 1e-3;
  selects.set_model(model);
  EXPECT_NE(name(selects.decide(allreduce(100), {})), "hierarchical");
  // What is asked for counts more, and what the memory limit allows.
  const Request ring{.variant = variant_named(Collective::allreduce, "ring")};
  EXPECT_EQ(name(selects.decide(allreduce(100), ring)), "ring");
  Case asked = allreduce(1 << 20);
  asked.memory = 1 << 20;
  EXPECT_LE(selects.decide(asked, {}).needed, asked.memory);
}

// Only what a machine file says of it makes it a candidate, and only for operations that the MPI knows.
TEST_F(SelectorTest, TheLeadersLevelIsLeftToTheMpiWhereItsNetworkReduces) {
  cost::Model model = with_free_memory();
  model.network.latency = 10e-6;
  const auto chosen = [&](bool offloads, double latency, std::int32_t operation) {
    model.offload.latency = latency;
    Selector selects({}, {}, 8, {.topology = &topology, .slot_bytes = 1 << 16, .offloads = offloads});
    selects.set_model(model);
    Case asked = allreduce(10);
    asked.operation = operation;
    return name(selects.decide(asked, {}));
  };
  EXPECT_EQ(chosen(true, 1e-6, 3), "offloaded");
  EXPECT_EQ(chosen(true, 1e-6, -1), "hierarchical") << "by a function of the program";
  EXPECT_EQ(chosen(true, 1e-3, 3), "hierarchical") << "slower";
  EXPECT_EQ(chosen(true, 0, 3), "hierarchical") << "no time is known";
  EXPECT_EQ(chosen(false, 1e-6, 3), "hierarchical") << "leaders have no communicator";
}

TEST_F(SelectorTest, InPlaceSharedMemoryIsForOneNodeAndMessagesAreCutToTheBudget) {
  const auto in_place = [](const Topology& machine, std::int32_t nodes, const Request& request = {}) {
    Selector selects({}, {}, 8, {.topology = &machine, .slot_bytes = 1 << 16});
    selects.set_model(with_free_memory());
    const LocalCall call{
        .collective = Collective::alltoall, .in_place = true, .output = {.significant = true, .count = 1 << 20}};
    return selects.decide(case_of(call, {.ranks = 8, .nodes = nodes, .ranks_per_node = 8 / nodes}), request);
  };
  const Topology one = Topology::nodes(8, 8);
  EXPECT_EQ(name(in_place(one, 1)), "hierarchical");
  // Its leaders would need all data of their nodes again.
  const Decision across = in_place(topology, 2);
  EXPECT_TRUE(across.fits);
  EXPECT_TRUE(across.variant.algorithm().swaps) << name(across);
  EXPECT_EQ(across.source(), Reason::Kind::price);
  // The MPI's own has memory enough: data that is cut is not faster.
  const Request unless_faster{.native = Request::Native::unless_faster};
  EXPECT_EQ(name(in_place(one, 1, unless_faster)), "hierarchical");
  EXPECT_EQ(name(in_place(topology, 2, unless_faster)), "native");
}

TEST_F(SelectorTest, LeavesToTheMpiWhatIsNotClearlyFaster) {
  Selector selects = selector();
  cost::Model model = with_free_memory();
  selects.set_model(model);
  const Request request{.native = Request::Native::unless_faster};
  // Where shared memory costs nothing.
  const Decision faster = selects.decide(allreduce(100), request);
  EXPECT_EQ(name(faster), "hierarchical");
  EXPECT_EQ(faster.source(), Reason::Kind::faster);
  EXPECT_LT(faster.reasons().back().first * 115, faster.reasons().back().second * 100);
  // Where a flat algorithm of ours is the best, the MPI has it, too.
  model.flag = 1;
  selects.set_model(model);
  const Decision native = selects.decide(allreduce(100), request);
  EXPECT_TRUE(native.native());
  EXPECT_EQ(native.source(), Reason::Kind::native_price);
  // A table that knows the collective knows better.
  model.flag = 0;
  add_rule(Collective::allreduce, 8, 64, "pairwise");
  selects = selector();
  selects.set_model(model);
  EXPECT_TRUE(selects.decide(allreduce(100), request).native());
  EXPECT_EQ(name(selects.decide(allreduce(1), request)), "pairwise");
  // And what no rank knows the size of can't be priced.
  EXPECT_TRUE(selects.decide({.collective = Collective::alltoallv, .ranks = 8}, request).native());
}

TEST_F(SelectorTest, ReasonsCanBeRead) {
  EXPECT_EQ(text_of({.kind = Reason::Kind::rule,
                     .variant = variant_named(Collective::alltoall, "bruck:4"),
                     .first = 8,
                     .second = 64}),
            "the tuning table has bruck:4 for 8 to 64 bytes");
  EXPECT_EQ(text_of({.kind = Reason::Kind::no_rule, .first = 9}), "the tuning table has no rule for 9 bytes");
  const Decision decision = decide(allreduce(1));
  ASSERT_EQ(decision.reasons().size(), 1U);
  EXPECT_EQ(text_of(decision.reasons()[0]), "recursive_doubling is the rule of thumb");
}

TEST_F(SelectorTest, AMemoTellsCasesAndRequestsApart) {
  add_rule(Collective::allreduce, 8, 64, "pairwise");
  const Selector selects = selector();
  Memo memo;
  const Request with_rule{.native = Request::Native::unless_faster};
  const Request ring{.variant = variant_named(Collective::allreduce, "ring")};
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(name(memo.decide(selects, allreduce(1), {})), "pairwise");
    EXPECT_EQ(name(memo.decide(selects, allreduce(9), {})), "recursive_doubling");
    EXPECT_EQ(name(memo.decide(selects, allreduce(9), with_rule)), "native");
    EXPECT_EQ(name(memo.decide(selects, allreduce(1), ring)), "ring");
  }
}

// Reductions are never refused for being in place, which a rank may be by itself (one buffer passed twice).
TEST(Catalogue, NoReductionNeedsSeparateBuffers) {
  for (const Algorithm* algorithm : catalogue()) {
    EXPECT_FALSE(traits(algorithm->collective).reduces && algorithm->restrictions.not_in_place) << algorithm->name;
  }
}

// A random call as all ranks make it, each with what is its own affair: how fine its types are, whether it is in place
// where that is the root's to say, what it passes where MPI does not look, its own counts and its own memory limit.
class RandomCall {
 public:
  RandomCall(std::mt19937& random, Rank ranks) : random_(random), ranks_(ranks) {
    collective = static_cast<Collective>(any(collectives));
    of = traits(collective);
    root = any(ranks);
    block_bytes = pick<std::int64_t>({0, 1, 8, 24, 96, 4096, 9000, 32768, 1 << 20}) * (1 + any(3));
    in_place = of.may_be_in_place && any(4) == 0;
    memory = any(3) == 0 ? pick<std::int64_t>({100, 300, 5000, 100000, 10000000}) : 0;
    element = pick<std::int64_t>({1, 4, 8, 16});
    commutative = any(4) != 0;
    fixed_order = any(8) == 0;
    operation = any(3) - 1;
    for (Rank rank = 0; rank < ranks; ++rank) blocks.push_back(any(3) == 0 ? 0 : block_bytes / 8 * any(16));
  }

  LocalCall of_rank(Rank rank) {
    LocalCall call{.collective = collective, .rank = rank, .root = of.rooted ? root : any(100)};
    call.in_place = in_place && (!of.rooted || rank == root);
    if (collective == Collective::allgather || collective == Collective::allgatherv) call.in_place = any(2) == 0;
    if (of.reduces && any(5) == 0 && (!of.rooted || rank == root)) call.in_place = true;  // one buffer twice
    call.commutative = commutative && !fixed_order;
    call.fixed_order = fixed_order;
    call.operation = operation;
    call.memory = memory;
    const bool own_limit = call.in_place && of.separate_blocks && !of.rooted && collective != Collective::allgatherv;
    if (own_limit && any(2) == 0) call.memory = any(100000);
    const Problem place{.rank = rank, .ranks = ranks_, .root = root, .in_place = call.in_place};
    call.input = side(block_count(collective, place, Buffer::input) > 0, of.input == Traits::Side::all);
    call.output = side(block_count(collective, place, Buffer::output) > 0, of.output == Traits::Side::all);
    if (of.reduces) {
      // One type, count and operation on every rank.
      const std::int64_t count = block_bytes / element;
      call.output.count = count;
      call.output.type_bytes = call.output.type_extent = element;
      if (of.counts_differ) call.output = counted(call.output, 1);
    }
    return call;
  }

  Collective collective;
  Traits of;
  Rank root;

 private:
  int any(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  template <class Value>
  Value pick(std::initializer_list<Value> values) {
    return *(values.begin() + any(static_cast<int>(values.size())));
  }

  LocalCall::Side counted(LocalCall::Side side, std::int64_t unit) {
    side.counted = true;
    side.total = side.largest = 0;
    for (const std::int64_t block : blocks) {
      side.total += block / unit;
      side.largest = std::max(side.largest, block / unit);
    }
    return side;
  }

  LocalCall::Side side(bool significant, bool all) {
    LocalCall::Side made;
    made.significant = significant;
    made.type_extent = any(1000);
    if (!significant) {
      made.count = any(1000000);
      made.type_bytes = any(50);
      return made;
    }
    // The same bytes by types of another size.
    made.type_bytes = 1;
    for (const std::int64_t size : {2, 4, 8}) {
      const auto fits = [&](std::int64_t bytes) { return bytes % size == 0; };
      if (any(2) == 0 && fits(block_bytes) && std::all_of(blocks.begin(), blocks.end(), fits)) made.type_bytes = size;
    }
    made.count = block_bytes / made.type_bytes;
    if (collective == Collective::allgatherv && all) return counted(made, made.type_bytes);
    if (of.separate_blocks && all) {
      made.counted = true;
      made.total = any(1000000);
      made.largest = any(1000);
    }
    if (of.separate_blocks && !all) made.count = any(100000);
    return made;
  }

  std::mt19937& random_;
  Rank ranks_;
  std::int64_t block_bytes;
  bool in_place;
  std::int64_t memory;
  std::int64_t element;
  bool commutative;
  bool fixed_order;
  std::int32_t operation;
  std::vector<std::int64_t> blocks;
};

TEST(Selector, EveryRankDecidesAlikeWhateverItKnowsAlone) {
  std::mt19937 random(20261117);
  const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  std::set<std::string> seen;
  std::int64_t local_facts = 0;
  for (int world = 0; world < 1000; ++world) {
    const Rank ranks = 1 + any(11);
    const Topology topology = Topology::nodes(ranks, 1 + any(4));
    Preferences preferences;
    if (any(4) == 0) preferences.segment = 1 + any(10000);
    std::vector<PlacedRule> rules;
    for (const Algorithm* algorithm : catalogue()) {
      if (any(10) == 0) preferences.variants[static_cast<std::size_t>(algorithm->collective)] = variant_of(*algorithm);
      if (!sizes_are_known(algorithm->collective) || any(5) != 0) continue;
      const std::int64_t from = any(100000);
      rules.push_back({{algorithm->collective, from, from + any(100000), variant_of(*algorithm)},
                       ranks,
                       topology.domains(topology.levels() - 1)});
    }
    if (any(2) == 0) preferences.variants = {};
    const Selector selector(preferences, rules, ranks, {.topology = &topology, .slot_bytes = any(2) * 100000});
    std::vector<Memo> memos(static_cast<std::size_t>(ranks));
    for (int one = 0; one < 100; ++one) {
      RandomCall call(random, ranks);
      const Request request{.native = static_cast<Request::Native>(any(3))};
      const LocalCall first = call.of_rank(0);
      const Case asked = case_of(first, selector.placement());
      const Decision decision = selector.decide(asked, request);
      seen.insert(std::string(name(call.collective)) + (decision.native() ? "" : name_of(decision.variant)));
      for (Rank rank = 1; rank < ranks; ++rank) {
        const LocalCall local = call.of_rank(rank);
        local_facts += local.output.type_bytes != first.output.type_bytes || local.in_place != first.in_place ||
                       local.input.total != first.input.total;
        const Case theirs = case_of(local, selector.placement());
        ASSERT_EQ(theirs, asked) << name(call.collective) << ", rank " << rank << ", world " << world;
        // What a rank remembers of other calls changes nothing.
        Memo& memo = memos[static_cast<std::size_t>(rank)];
        ASSERT_EQ(memo.decide(selector, theirs, request), decision) << name(call.collective) << ", world " << world;
        if (any(3) == 0) memo.decide(selector, theirs, {.native = static_cast<Request::Native>(any(3))});
      }
    }
  }
  // Every algorithm for data outside windows was chosen at least once, none other, and the MPI's own function of every
  // collective; and ranks were different.
  const auto all = catalogue();
  const auto in_windows =
      std::count_if(all.begin(), all.end(), [](const Algorithm* one) { return one->restrictions.exposed; });
  EXPECT_EQ(std::ssize(seen), std::ssize(all) - in_windows + collectives);
  EXPECT_GT(local_facts, 100000);
}

// Data in windows goes through shared memory inside nodes, but for what others may deposit while a rank computes.
TEST(UsualOneSided, GoesByLevelsWhereRanksShareMemory) {
  const auto chosen = [](std::int64_t bytes, std::int32_t nodes, Form form, bool shares_memory) {
    const Case asked = {.collective = Collective::bcast, .form = form, .ranks = 4, .nodes = nodes, .count = bytes};
    return std::string(usual_one_sided(asked, 1 << 15, {.box = 1024, .shares_memory = shares_memory}).name);
  };
  for (const std::int64_t bytes : {16, 1024, 1025, 1 << 24}) {
    EXPECT_EQ(chosen(bytes, 1, Form::blocking, true), "one_sided_hierarchical");
    EXPECT_NE(chosen(bytes, 1, Form::blocking, false), "one_sided_hierarchical");
    EXPECT_NE(chosen(bytes, 4, Form::blocking, true), "one_sided_hierarchical") << "no two ranks are on one node";
    EXPECT_EQ(chosen(bytes, 2, Form::blocking, false), "one_sided_hierarchical");
  }
  for (const std::int32_t nodes : {1, 2}) {
    EXPECT_EQ(chosen(1024, nodes, Form::non_blocking, true), "one_sided_binomial");
    EXPECT_EQ(chosen(1025, nodes, Form::non_blocking, true), "one_sided_hierarchical");
  }
}

}  // namespace
}  // namespace quadrille
