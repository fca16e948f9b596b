#include "knowledge/library.hpp"

#include <gtest/gtest.h>

#include "cost/built_in.hpp"
#include "knowledge/traffic.hpp"
#include "topology/topology.hpp"

namespace quadrille::knowledge {
namespace {

TEST(Library, IsFoundByTheNameThatAnMpiGivesItself) {
  ASSERT_NE(library_of("Open MPI v4.1.4, package: Debian"), nullptr);
  EXPECT_EQ(library_of("Open MPI v4.1.4")->name, "Open MPI 4.1");
  EXPECT_EQ(library_of("Open MPI v5.0.7"), nullptr);
  EXPECT_EQ(library_of("MPICH 4.0.2"), nullptr);
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
            const Placement placement{.ranks = ranks, .nodes = 1, .ranks_per_node = ranks};
            Case asked = sizes_are_known(collective) ? case_of_bytes(collective, bytes, placement)
                                                     : Case{.collective = collective, .ranks = ranks};
            asked.commutative = commutative;
            ++asked_for;
            const Choice choice = library->choose(asked);
            ASSERT_NE(choice.name, "") << library->name << ", " << name(collective) << ", " << ranks << " ranks";
            for (const Step& step : choice.steps) {
              const Problem problem{.ranks = ranks,
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

TEST(Library, SomeAllreducesAreAReduceAndABcast) {
  Case asked = case_of_bytes(Collective::allreduce, 1 << 20, {.ranks = 12, .nodes = 1, .ranks_per_node = 12});
  asked.commutative = false;
  const Choice choice = library_of("Open MPI v4.1.4")->choose(asked);
  EXPECT_EQ(choice.name, "nonoverlapping");
  ASSERT_EQ(choice.steps.size(), 2U);
  EXPECT_EQ(name_of(choice.steps[0].variant), "post_order_binary");
  EXPECT_EQ(name_of(choice.steps[1].variant), "linear");
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
