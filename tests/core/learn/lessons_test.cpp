#include "learn/lessons.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "select/prices.hpp"
#include "topology/topology.hpp"

namespace quadrille::learn {
namespace {

// Communicators of ranks that are four on a node.
class LessonsTest : public testing::Test {
 protected:
  Selector selector(Rank ranks, const Topology& places) const {
    Selector made(preferences, rules, ranks, {.topology = &places, .slot_bytes = 1 << 16});
    cost::Model model;
    model.node = {.latency = 1e-6, .overhead = 1e-6, .work = 1e-9, .wire = 0, .eager = 4096, .rendezvous = 1e-6};
    model.network = {.latency = 1e-5, .overhead = 1e-6, .work = 1e-9, .wire = 1e-9, .eager = 4096, .rendezvous = 1e-5};
    model.rack = model.network;
    made.set_model(model);
    return made;
  }
  static Case asked(Collective collective, std::int64_t bytes, const Selector& selector) {
    return case_of_bytes(collective, bytes, selector.placement());
  }

  Topology topology = Topology::nodes(8, 4);
  Preferences preferences;
  std::vector<PlacedRule> rules;
};

TEST_F(LessonsTest, TheMpisOwnIsAlwaysACandidateAndAlgorithmsAreThereOnce) {
  const Selector made = selector(8, topology);
  Lessons lessons(made, {}, 0.02);
  for (const Collective collective : {Collective::bcast, Collective::allreduce, Collective::alltoall}) {
    const CaseLesson* found = lessons.find(asked(collective, 65536, made));
    ASSERT_NE(found, nullptr);
    EXPECT_FALSE(found->variants[0]);
    for (std::size_t i = 1; i < found->lesson.candidates(); ++i) {
      for (std::size_t j = 1; j < i; ++j) EXPECT_NE(found->variants[i].place, found->variants[j].place);
      EXPECT_EQ(found->variants[i].algorithm().collective, collective);
    }
    // The first calls are run as they would be without lessons.
    const Decision decision = made.decide(asked(collective, 65536, made), {.native = Request::Native::unless_faster});
    EXPECT_EQ(found->next().place, decision.variant.place);
  }
}

TEST_F(LessonsTest, SizesThatAreAlikeShareOne) {
  const Selector made = selector(8, topology);
  Lessons lessons(made, {}, 0.02);
  CaseLesson* const one = lessons.find(asked(Collective::bcast, 65536, made));
  EXPECT_EQ(lessons.find(asked(Collective::bcast, 70000, made)), one);
  Case other = asked(Collective::bcast, 65536, made);
  other.root = 3;
  EXPECT_EQ(lessons.find(other), one);
  EXPECT_NE(lessons.find(asked(Collective::bcast, 81920, made)), one);
  EXPECT_NE(lessons.find(asked(Collective::reduce, 65536, made)), one);
  EXPECT_EQ(lessons.all().size(), 3U);
  const Sizes sizes = sizes_of(one->one);
  EXPECT_EQ(sizes.from, 65536);
  EXPECT_EQ(sizes.to, 81919);
}

TEST_F(LessonsTest, NothingIsLearnedWhereSomebodyHasSaidWhatRuns) {
  const Case bcast = asked(Collective::bcast, 4096, selector(8, topology));
  const auto learns = [&](double share) {
    const Selector made = selector(8, topology);
    return Lessons(made, {}, share).find(bcast) != nullptr;
  };
  EXPECT_TRUE(learns(0.02));
  EXPECT_FALSE(learns(0));
  preferences.variants[static_cast<std::size_t>(Collective::bcast)] = variant_named(Collective::bcast, "linear");
  EXPECT_FALSE(learns(0.02));
  preferences = {};
  rules.push_back({{Collective::bcast, 1, 8, variant_named(Collective::bcast, "linear")}, 8, 2});
  EXPECT_FALSE(learns(0.02));
  rules.front().ranks = 4;
  EXPECT_TRUE(learns(0.02));
}

TEST_F(LessonsTest, BeginWithWhatIsRemembered) {
  const Selector made = selector(8, topology);
  const auto remembered = [](std::string_view name, Rank ranks) {
    const Variant variant = name == "native" ? Variant{} : variant_named(Collective::bcast, name);
    return std::vector<PlacedRule>{{{Collective::bcast, 4096, 5119, variant}, ranks, 2}};
  };
  for (const std::string_view name : {"linear", "pipelined_chain", "native"}) {
    const auto known = remembered(name, 8);
    Lessons lessons(made, known, 0.02);
    const CaseLesson* found = lessons.find(asked(Collective::bcast, 4096, made));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->start, CaseLesson::Start::remembered);
    EXPECT_EQ(found->next() ? name_of(found->next()) : "native", name);
    EXPECT_EQ(lessons.find(asked(Collective::bcast, 8192, made))->start, CaseLesson::Start::price);
  }
  const auto of_others = remembered("linear", 4);
  EXPECT_EQ(Lessons(made, of_others, 0.02).find(asked(Collective::bcast, 4096, made))->start, CaseLesson::Start::price);
}

TEST_F(LessonsTest, AreNotMoreThanSoMany) {
  const Selector made = selector(8, topology);
  Lessons lessons(made, {}, 0.02);
  int found = 0;
  for (std::int64_t bytes = 8; bytes < std::int64_t{1} << 40; bytes += bytes / 4) {
    for (const Collective collective : {Collective::bcast, Collective::allreduce, Collective::allgather}) {
      found += lessons.find(asked(collective, bytes, made)) ? 1 : 0;
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_LE(lessons.all().size(), 256U);
}

// A random program: communicators whose ranks are members of others, calls on them in any order, ranks with clocks of
// their own, of which some are late. What a rank decides of a call is what all ranks of the communicator do.
TEST_F(LessonsTest, NoRankEverDecidesOtherwise) {
  constexpr std::size_t communicators = 4;
  const std::vector<std::vector<int>> members = {{0, 1, 2, 3, 4, 5}, {0, 2, 4}, {1, 2}, {5, 3, 1, 0}};
  std::deque<Topology> topologies;
  std::deque<Selector> selectors;
  for (const auto& one : members) {
    const auto ranks = static_cast<Rank>(one.size());
    selectors.push_back(selector(ranks, topologies.emplace_back(Topology::nodes(ranks, 2))));
  }
  for (unsigned seed = 0; seed < 10000; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::deque<Lessons>> lessons(communicators);
    std::vector<std::vector<double>> slowness(communicators);
    for (std::size_t comm = 0; comm < communicators; ++comm) {
      const Credit credit =
          random() % 2 == 0 ? Credit() : Credit(16, 1e-4, 1e-6 * static_cast<double>(random() % 50), 0.02);
      for (std::size_t rank = 0; rank < members[comm].size(); ++rank) {
        lessons[comm].emplace_back(selectors[comm], std::span<const PlacedRule>(), seed % 3 == 0 ? 0.5 : 0.02, credit);
        slowness[comm].push_back(1 + static_cast<double>(random() % 1000));
      }
    }
    std::uniform_real_distribution<double> any(0.1e-6, 100e-6);
    const std::size_t calls = seed % 1000 == 0 ? 10000 : random() % 200;
    for (std::size_t i = 0; i < calls; ++i) {
      const std::size_t comm = random() % communicators;
      constexpr std::array<Collective, 3> some = {Collective::bcast, Collective::allreduce, Collective::allgather};
      const Case call =
          asked(some[random() % 2 == 0 ? 0 : random() % 3], random() % 4 == 0 ? 65536 : 8, selectors[comm]);
      std::vector<CaseLesson*> of_ranks;
      for (Lessons& one : lessons[comm]) of_ranks.push_back(one.find(call));
      CaseLesson& first = *of_ranks.front();
      if (first.lesson.must_agree()) {
        Lesson::Word all;
        all.fill(-1e9);
        for (const CaseLesson* one : of_ranks) {
          ASSERT_TRUE(one->lesson.must_agree()) << seed;
          const Lesson::Word word = one->lesson.word();
          for (std::size_t k = 0; k < all.size(); ++k) all[k] = std::max(all[k], word[k]);
        }
        for (CaseLesson* one : of_ranks) one->lesson.agree(all, any(random));
      }
      const Variant variant = first.next();
      const bool timed = first.lesson.timed();
      const bool meet = first.lesson.must_meet();
      for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
        Lesson& lesson = of_ranks[rank]->lesson;
        ASSERT_EQ(of_ranks[rank]->next(), variant) << seed;
        ASSERT_EQ(lesson.timed(), timed) << seed;
        ASSERT_EQ(lesson.must_meet(), meet) << seed;
        if (meet) lesson.met(any(random) * slowness[comm][rank]);
        if (timed) {
          lesson.ran(any(random) * slowness[comm][rank]);
        } else {
          lesson.ran();
        }
      }
    }
  }
}

}  // namespace
}  // namespace quadrille::learn
