#include "knowledge/library.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cost/built_in.hpp"
#include "knowledge/parts.hpp"
#include "knowledge/traffic.hpp"
#include "select/selector.hpp"
#include "topology/topology.hpp"

namespace quadrille::knowledge {
namespace {

TEST(Library, IsFoundByTheNameThatAnMpiGivesItself) {
  ASSERT_NE(library_of("Open MPI v4.1.4, package: Debian"), nullptr);
  EXPECT_EQ(library_of("Open MPI v4.1.4")->name, "Open MPI 4.1");
  EXPECT_EQ(library_of("Open MPI v5.0.7")->name, "Open MPI 5.0");
  EXPECT_EQ(library_of("Open MPI v6.0.0"), nullptr);
  ASSERT_NE(library_of("MPICH 4.0.2"), nullptr);
  EXPECT_EQ(library_of("MPICH 4.0.2")->name, "MPICH 4.0");
  EXPECT_EQ(library_of("MPICH 4.2.1")->name, "MPICH 4.2");
  EXPECT_EQ(library_of("MPICH 4.1.2"), nullptr);
}

// Of MPI 2 and later, or not among what MPICH 1.2 chose an algorithm for.
bool is_younger(Collective collective) {
  return collective == Collective::alltoallw || collective == Collective::exscan ||
         collective == Collective::reduce_scatter_block;
}

// Whatever is asked for, there is an answer, and what is said to send the same can be built.
TEST(Library, HasAnAlgorithmForEveryCall) {
  std::int64_t asked_for = 0;
  for (const Library* library : libraries()) {
    for (std::size_t i = 0; i < collectives; ++i) {
      const auto collective = static_cast<Collective>(i);
      for (const Rank ranks : {2, 3, 4, 7, 8, 16, 33, 64, 100, 128, 300, 1000, 3000, 5000}) {
        for (std::int64_t bytes = 0; bytes <= std::int64_t{1} << 23; bytes = bytes == 0 ? 1 : 3 * bytes) {
          for (const bool commutative : {true, false}) {
            const bool in_nodes = asked_for % 2 == 1;
            const Placement placement{.ranks = ranks,
                                      .nodes = in_nodes ? (ranks + 3) / 4 : 1,
                                      .ranks_per_node = in_nodes ? std::min(ranks, 4) : ranks};
            Case asked = sizes_are_known(collective) ? case_of_bytes(collective, bytes, placement)
                                                     : Case{.collective = collective, .ranks = ranks};
            asked.commutative = commutative;
            ++asked_for;
            const Choice choice = library->choose(asked);
            ASSERT_TRUE(!choice.name.empty() || (library->is_historical && is_younger(collective)))
                << library->name << ", " << name(collective) << ", " << ranks << " ranks";
            for (const Step& step : choice.steps) {
              const Problem problem{.ranks = step.asked.ranks,
                                    .count = step.asked.count,
                                    .commutative = step.asked.commutative,
                                    .width = step.variant.width};
              ASSERT_EQ(refusal(step.variant.algorithm(), problem), "") << name(collective) << ' ' << choice.name;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(asked_for, 5000);
}

TEST(Library, OfAnotherAgeOrWithOtherSettingsIsNeverTakenForAnMpi) {
  for (const std::string_view mpi : {"MPICH 1.2.7", "MVAPICH 0.9.2", "Open MPI 4.1, han", "", "LAM 7"}) {
    EXPECT_EQ(library_of(mpi), nullptr) << mpi;
  }
  for (const std::string_view policy : {"mpich-1.2.7", "mvapich-0.9.2", "openmpi-4.1-han"}) {
    const Library* const library = library_with_policy(policy);
    ASSERT_NE(library, nullptr);
    EXPECT_EQ(library->policy, policy);
    EXPECT_TRUE(library->mpi.empty());
  }
}

TEST(Library, OpenMpi5ChoosesAs4DidUnlessHanDoes) {
  const Library& older = *library_of("Open MPI v4.1.4");
  const Library& newer = *library_of("Open MPI v5.0.7");
  for (const Placement& placement : {Placement{.ranks = 16, .nodes = 1, .ranks_per_node = 16},
                                     Placement{.ranks = 16, .nodes = 16, .ranks_per_node = 1}}) {
    const Case asked = case_of_bytes(Collective::bcast, 1 << 20, placement);
    EXPECT_EQ(newer.choose(asked).name, older.choose(asked).name);
    EXPECT_FALSE(newer.choose(asked).steps.empty());
  }
  const Case asked = case_of_bytes(Collective::bcast, 1 << 20, {.ranks = 16, .nodes = 4, .ranks_per_node = 4});
  EXPECT_EQ(newer.choose(asked).name, "han");
  EXPECT_TRUE(newer.choose(asked).steps.empty());
}

// Zhang et al., Fig. 4, by the libraries' sources.
TEST(Library, ThoseOfThePaperChooseAsTheirSourcesSay) {
  const auto chosen = [](std::string_view policy, Collective collective, Rank ranks, std::int64_t count,
                         bool predefined = true) {
    const Case asked{.collective = collective,
                     .commutative = true,
                     .operation = predefined ? 0 : -1,
                     .ranks = ranks,
                     .nodes = ranks,
                     .count = count,
                     .largest = count};
    return std::string(library_with_policy(policy)->choose(asked).name);
  };
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::bcast, 7, 1 << 20), "binomial");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::bcast, 8, 12287), "binomial");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::bcast, 8, 12288), "van_de_geijn");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::bcast, 9, 12288), "ring");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::bcast, 8, 524288), "ring");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::alltoall, 8, 256), "bruck");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::alltoall, 7, 1), "isend_irecv");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::alltoall, 8, 32768), "isend_irecv");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::alltoall, 8, 32769), "pairwise");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::allgather, 6, 81920 / 6), "bruck");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::allgather, 6, 81926 / 6), "ring");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::allreduce, 8, 2048), "recursive_doubling");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::allreduce, 8, 2049), "rabenseifner");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::allreduce, 8, 2049, false), "recursive_doubling");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::allreduce, 4096, 2049), "recursive_doubling");
  EXPECT_EQ(chosen("mpich-1.2.7", Collective::reduce, 4096, 2049), "binomial");
  EXPECT_EQ(chosen("mvapich-0.9.2", Collective::bcast, 8, 12287), "binomial");
  EXPECT_EQ(chosen("mvapich-0.9.2", Collective::bcast, 9, 1), "van_de_geijn");
  EXPECT_EQ(chosen("mvapich-0.9.2", Collective::reduce, 16, 1 << 20), "binomial");
  EXPECT_EQ(chosen("mvapich-0.9.2", Collective::alltoall, 16, 8), "recursive_doubling");
  EXPECT_EQ(chosen("mvapich-0.9.2", Collective::alltoall, 16, 9), "isend_irecv");
  EXPECT_EQ(chosen("mvapich-0.9.2", Collective::alltoall, 16, 16384), "pairwise");
}

Case on_nodes(Collective collective, std::int64_t doubles, Rank root = 0) {
  Case asked = case_of_bytes(collective, 8 * doubles, {.ranks = 16, .nodes = 4, .ranks_per_node = 4});
  asked.root = root;
  return asked;
}

TEST(Library, HanCutsABcastAndHasItOnBothLevels) {
  const Library& han = *library_with_policy("openmpi-4.1-han");
  const Choice choice = han.choose(on_nodes(Collective::bcast, 20000));
  EXPECT_EQ(choice.name, "han");
  std::array<std::int64_t, 2> times = {};
  std::array<std::int64_t, 2> bytes = {};
  for (const Step& step : choice.steps) {
    ASSERT_NE(step.by, By::all);
    EXPECT_EQ(step.asked.ranks, 4);
    const auto level = static_cast<std::size_t>(step.by == By::each_node);
    times[level] += step.times;
    bytes[level] += step.times * step.asked.count_bytes();
  }
  // 160,000 bytes are two segments of 64 KiB and the rest.
  EXPECT_EQ(times, (std::array<std::int64_t, 2>{3, 3}));
  EXPECT_EQ(bytes, (std::array<std::int64_t, 2>{160000, 160000}));
}

TEST(Library, HanLeavesToTunedWhatItHasNoAlgorithmFor) {
  const Library& han = *library_with_policy("openmpi-4.1-han");
  const Library& tuned = *library_of("Open MPI v4.1.4");
  Case in_order = on_nodes(Collective::allreduce, 100);
  in_order.commutative = false;
  Case one_node = case_of_bytes(Collective::bcast, 800, {.ranks = 16, .nodes = 1, .ranks_per_node = 16});
  Case alone = case_of_bytes(Collective::bcast, 800, {.ranks = 16, .nodes = 16, .ranks_per_node = 1});
  Case uneven = case_of_bytes(Collective::gather, 800, {.ranks = 15, .nodes = 4, .ranks_per_node = 4});
  for (const Case& asked : {in_order, one_node, alone, uneven, on_nodes(Collective::alltoall, 100)}) {
    EXPECT_EQ(han.choose(asked).name, tuned.choose(asked).name) << name(asked.collective);
  }
  const Case also_uneven = case_of_bytes(Collective::allreduce, 800, {.ranks = 15, .nodes = 4, .ranks_per_node = 4});
  EXPECT_TRUE(han.choose(also_uneven).steps.empty());
}

// Ranks dealt to nodes in turn: 0, 3, 6 are on the first.
TEST(Parts, AreTheRanksOfEachNodeOrThoseBesideTheRoot) {
  const Topology topology(9, {{0, 1, 2, 0, 1, 2, 0, 1, 2}});
  Step step{.asked = {.collective = Collective::bcast, .ranks = 3, .root = 7}, .variant = {}, .by = By::each_node};
  const auto members = [](const Part& part) {
    std::vector<Rank> ranks;
    for (Rank one = 0; one < part.ranks.size(); ++one) ranks.push_back(part.ranks[one]);
    return ranks;
  };
  const std::vector<Part> nodes = parts_of(step, &topology);
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(members(nodes[1]), (std::vector<Rank>{1, 4, 7}));
  for (const Part& node : nodes) EXPECT_EQ(node.root, 2);
  step.by = By::one_of_each_node;
  const std::vector<Part> across = parts_of(step, &topology);
  ASSERT_EQ(across.size(), 1U);
  EXPECT_EQ(members(across[0]), (std::vector<Rank>{6, 7, 8}));
  EXPECT_EQ(across[0].root, 1);
  EXPECT_EQ(topology_of(across[0].ranks, topology).domains(1), 3);
  EXPECT_EQ(topology_of(nodes[0].ranks, topology).domains(1), 1);
}

TEST(Library, SomeAllreducesAreAReduceAndABcast) {
  Case asked = case_of_bytes(Collective::allreduce, 1 << 20, {.ranks = 12, .nodes = 1, .ranks_per_node = 12});
  asked.commutative = false;
  const Choice choice = library_of("Open MPI v4.1.4")->choose(asked);
  EXPECT_EQ(choice.name, "nonoverlapping");
  ASSERT_EQ(choice.steps.size(), 2U);
  EXPECT_EQ(name_of(choice.steps[0].variant), "post_order_binary");
  EXPECT_EQ(name_of(choice.steps[1].variant), "linear");
}

// Sizes of MPICH's rules are of all ranks together, or bytes are compared by <=.
TEST(Library, MpichChoosesByItsOwnRules) {
  const Library& library = *library_of("MPICH 4.0.2");
  const auto chosen = [&](Collective collective, Rank ranks, std::int64_t count, bool commutative = true) {
    const Case asked{.collective = collective,
                     .commutative = commutative,
                     .operation = commutative ? 0 : -1,
                     .ranks = ranks,
                     .nodes = ranks,
                     .count = count,
                     .largest = count};
    return library.choose(asked).name;
  };
  EXPECT_EQ(chosen(Collective::alltoall, 8, 8), "scattered");
  EXPECT_EQ(chosen(Collective::alltoall, 9, 256), "brucks");
  EXPECT_EQ(chosen(Collective::alltoall, 9, 257), "scattered");
  EXPECT_EQ(chosen(Collective::bcast, 8, 12288), "binomial");
  EXPECT_EQ(chosen(Collective::bcast, 8, 12289), "scatter_recursive_doubling_allgather");
  EXPECT_EQ(chosen(Collective::bcast, 9, 12289), "scatter_ring_allgather");
  EXPECT_EQ(chosen(Collective::allgather, 8, 65535), "recursive_doubling");
  EXPECT_EQ(chosen(Collective::allgather, 8, 65536), "ring");
  EXPECT_EQ(chosen(Collective::allreduce, 8, 9), "reduce_scatter_allgather");
  EXPECT_EQ(chosen(Collective::allreduce, 16, 9), "recursive_doubling") << "fewer elements than corners";
  EXPECT_EQ(chosen(Collective::allreduce, 8, 100, false), "recursive_doubling");
  EXPECT_EQ(chosen(Collective::reduce_scatter, 8, 800, false), "recursive_doubling") << "blocks that differ";
}

TEST(Library, MpichRunsSomeInPartsWhereRanksShareANode) {
  const Library& library = *library_of("MPICH 4.0.2");
  const auto steps = [&](Collective collective, std::int64_t bytes) {
    return library.choose(case_of_bytes(collective, bytes, {.ranks = 16, .nodes = 4, .ranks_per_node = 4}))
        .steps.size();
  };
  EXPECT_EQ(steps(Collective::bcast, 8), 0U);
  EXPECT_EQ(steps(Collective::bcast, 1 << 20), 1U);
  EXPECT_EQ(steps(Collective::allreduce, 1 << 20), 0U);
  EXPECT_EQ(steps(Collective::allgather, 1 << 20), 1U);
}

// Its shares are of bytes, whatever the datatype.
TEST(Library, MpichDividesABcastByBytes) {
  const Case asked{
      .collective = Collective::bcast, .ranks = 13, .nodes = 13, .count = 70000, .largest = 70000, .unit_bytes = 8};
  const Choice choice = library_of("MPICH 4.0.2")->choose(asked);
  ASSERT_EQ(choice.steps.size(), 1U);
  EXPECT_EQ(choice.steps.front().asked.count, 560000);
  EXPECT_EQ(choice.steps.front().asked.unit_bytes, 1);
  EXPECT_EQ(name_of(choice.steps.front().variant), "scatter_ring_all");
}

TEST(Library, TakesTheTimeOfAllSteps) {
  const Topology topology = Topology::nodes(12, 1);
  Prices prices(cost::built_in(), Requirements({.topology = &topology}, 1 << 30, 1 << 15), 1 << 15);
  const Library& library = *library_of("Open MPI v4.1.4");
  const Placement placement{.ranks = 12, .nodes = 12, .ranks_per_node = 1};
  Case asked = case_of_bytes(Collective::allreduce, 1 << 20, placement);
  asked.commutative = false;
  const auto seconds_of = [&](const Case& one) { return price(library.choose(one), prices).value_or(0); };
  Case reduce = case_of_bytes(Collective::reduce, 1 << 20, placement);
  reduce.commutative = false;
  const double parts = seconds_of(reduce) + seconds_of(case_of_bytes(Collective::bcast, 1 << 20, placement));
  EXPECT_GT(parts, 0);
  EXPECT_NEAR(seconds_of(asked), parts, 1e-9);
  EXPECT_FALSE(price(library.choose({.collective = Collective::alltoallv, .ranks = 12}), prices).has_value());
}

// Ranks on nodes of their own.
struct Apart {
  explicit Apart(Rank ranks) : placement{.ranks = ranks, .nodes = ranks, .ranks_per_node = 1} {
    std::vector<std::int32_t> nodes;
    for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back(rank);
    topology = Topology(ranks, {nodes});
  }
  Selector selector(NativePrice native) const {
    Selector made({}, {}, placement.ranks, {.topology = &topology});
    made.set_model(cost::built_in(), std::move(native));
    return made;
  }
  Placement placement;
  Topology topology = Topology::nodes(1, 1);
};

TEST(NativePrice, IsThatOfWhatTheLibrarySends) {
  const Apart ground(5);
  const Library& library = *library_of("Open MPI v4.1.4");
  const Selector knows = ground.selector(native_price(&library));
  const Selector guesses = ground.selector(native_price(nullptr));
  const Case chain = case_of_bytes(Collective::bcast, 1 << 20, ground.placement);
  ASSERT_EQ(library.choose(chain).name, "chain");
  const Prices::Ranking known = knows.prices()->ranking(chain);
  const Prices::Ranking guessed = guesses.prices()->ranking(chain);
  EXPECT_TRUE(known.native_known);
  EXPECT_FALSE(guessed.native_known);
  EXPECT_EQ(known.native, price(library.choose(chain), *knows.prices()));
  EXPECT_GT(known.native, 1.5 * guessed.native) << "the whole data from rank to rank";
  // All else is as before.
  ASSERT_EQ(known.variants.size(), guessed.variants.size());
  for (std::size_t i = 0; i < known.variants.size(); ++i) {
    EXPECT_EQ(known.variants[i].variant.place, guessed.variants[i].variant.place);
    EXPECT_EQ(known.variants[i].seconds, guessed.variants[i].seconds);
  }
}

// Of a library that can be beaten, and of one that can't.
TEST(NativePrice, DecidesWhetherTheMpiRunsACall) {
  const Apart ground(5);
  const Request unless_faster{.native = Request::Native::unless_faster};
  const Case asked = case_of_bytes(Collective::bcast, 1 << 20, ground.placement);
  const auto decide = [&](NativePrice native) {
    return ground.selector(std::move(native)).decide(asked, unless_faster);
  };
  const auto takes = [](double seconds) {
    return [seconds](const Case&, Prices&) -> std::optional<double> { return seconds; };
  };
  const Decision known = decide(native_price(library_of("Open MPI v4.1.4")));
  EXPECT_FALSE(known.native());
  EXPECT_EQ(known.source(), Reason::Kind::faster);
  EXPECT_FALSE(decide(takes(1000)).native());
  EXPECT_TRUE(decide(takes(1e-9)).native());
  // Of which nothing is known, it is as if there were no price.
  const auto none = [](const Case&, Prices&) -> std::optional<double> { return std::nullopt; };
  EXPECT_EQ(decide(none), decide({}));
}

// What all MPIs have is as good as ours, but the library doesn't choose it.
TEST(NativePrice, ACallIsReplacedWhereTheLibraryChoosesBadly) {
  const Apart ground(64);
  const Request unless_faster{.native = Request::Native::unless_faster};
  const Case asked = case_of_bytes(Collective::allreduce, 1 << 16, ground.placement);
  const Library& library = *library_of("Open MPI v4.1.4");
  ASSERT_EQ(library.choose(asked).name, "recursive_doubling");
  EXPECT_TRUE(ground.selector({}).decide(asked, unless_faster).native());
  const Decision known = ground.selector(native_price(&library)).decide(asked, unless_faster);
  EXPECT_FALSE(known.native());
  EXPECT_EQ(known.source(), Reason::Kind::faster);
}

// The MPI has memory enough, whatever the limit of a call, and is asked once for all sizes of a representative.
TEST(NativePrice, IsAskedForOncePerRepresentativeAndWithoutALimit) {
  const Apart ground(8);
  std::vector<Case> asked_for;
  const Selector selector = ground.selector([&](const Case& asked, Prices&) -> std::optional<double> {
    asked_for.push_back(asked);
    return 1.0;
  });
  Case asked = case_of_bytes(Collective::alltoall, 1 << 20, ground.placement);
  asked.in_place = true;
  asked.memory = 1 << 16;
  for (int i = 0; i < 3; ++i) selector.prices()->ranking(asked);
  asked.count += 1;
  selector.prices()->ranking(asked);
  ASSERT_EQ(asked_for.size(), 1U);
  EXPECT_EQ(asked_for.front().memory, 0);
  EXPECT_TRUE(asked_for.front().in_place);
}

TEST(Library, ItsChoicesAreChangedByTheEnvironment) {
  for (const std::string_view changes :
       {"OMPI_MCA_coll_tuned_use_dynamic_rules", "OMPI_MCA_coll", "OMPI_MCA_coll_han_priority",
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM", "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE", "MPIR_CVAR_DEVICE_COLLECTIVES",
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"}) {
    EXPECT_TRUE(changes_choices(changes)) << changes;
  }
  EXPECT_FALSE(changes_choices("OMPI_MCA_btl"));
  EXPECT_FALSE(changes_choices("MPIR_CVAR_NOLOCAL"));
  const std::array<const char*, 3> changed = {"HOME=/", "OMPI_MCA_coll=^han", nullptr};
  EXPECT_EQ(changing_choices(changed.data()), "OMPI_MCA_coll");
  const std::array<const char*, 2> usual = {"OMPI_MCA_btl=self", nullptr};
  EXPECT_EQ(changing_choices(usual.data()), "");
}

TEST(Traffic, IsByDestination) {
  const auto sent = sent_by(build(*find_algorithm(Collective::bcast, "linear"), {.ranks = 4, .count = 10}), 1);
  ASSERT_EQ(sent.size(), 3U);
  for (const auto& [to, traffic] : sent) EXPECT_EQ(traffic, (Traffic{1, 10})) << to;
  // Of elements, and of segments in a loop.
  const auto chain = sent_by(
      build(*find_algorithm(Collective::reduce, "pipelined_chain"), {.rank = 2, .ranks = 4, .count = 10, .segment = 3}),
      8);
  ASSERT_EQ(chain.size(), 1U);
  EXPECT_EQ(chain.begin()->second, (Traffic{4, 80}));
}

TEST(Traffic, OfBlocksWithTheirOwnSizesIsWhatTheyAreBoundTo) {
  const Schedule schedule = build(*find_algorithm(Collective::alltoallv, "linear"), {.rank = 1, .ranks = 4});
  const auto sent = sent_by(schedule, 8, [](const Region& block) { return std::int64_t{10} * block.block; });
  const std::map<Rank, Traffic> expected = {{2, {1, 160}}, {3, {1, 240}}};  // of nothing no message is sent
  EXPECT_EQ(sent, expected);
}

TEST(Library, PoliciesHaveNames) {
  for (const Library* one : libraries()) EXPECT_EQ(library_with_policy(one->policy), one);
  EXPECT_EQ(library_with_policy(own_policy), nullptr);
  EXPECT_THROW(library_with_policy("openmpi"), std::invalid_argument);
}

}  // namespace
}  // namespace quadrille::knowledge
