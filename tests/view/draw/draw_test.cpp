#include "draw/draw.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "draw/count.hpp"
#include "draw/palette.hpp"
#include "draw/timeline.hpp"
#include "draw/xml.hpp"

namespace quadrille::draw {
namespace {

// An execution with what it refers to.
struct Sample {
  verify::Subject subject;
  verify::Expressions expressions{true};
  verify::Execution execution;

  Sample(const Algorithm& algorithm, const Problem& problem)
      : subject(verify::subject_of(algorithm, problem, [](Rank from, Rank to) { return (from + 2 * to) % 3; })) {
    execution = verify::execute(subject, expressions, verify::Keep::data_too);
  }
  Sample(const Sample&) = delete;

  std::string picture(const Title& title = {"heading", "subheading"}) const { return svg(subject, title); }
  Timeline timeline() const { return timeline_of(subject, execution, expressions); }
};

const Algorithm& algorithm(Collective collective, std::string_view name) {
  return *find_algorithm(collective, name);
}

template <class Check>
void for_each_algorithm(const std::vector<Rank>& ranks, Check&& check) {
  for (const Algorithm* one : catalogue()) {
    for (Rank size : ranks) {
      const Problem problem{.ranks = size, .root = size / 2, .count = 2 * size + 1, .segment = 3};
      if (!refusal(*one, problem).empty()) continue;
      SCOPED_TRACE(fmt::format("{} {} on {} ranks", name(one->collective), one->name, size));
      check(Sample(*one, problem));
    }
  }
}

TEST(Draw, EveryMessageIsOneArrow) {
  for_each_algorithm({1, 2, 3, 5, 8, 11, 16}, [](const Sample& run) {
    EXPECT_EQ(count(run.picture(), R"(<g class="message")"), run.execution.messages.size());
  });
}

TEST(Draw, EveryRankHasABoxAndALifeline) {
  for_each_algorithm({1, 2, 7, 64}, [](const Sample& run) {
    const std::string picture = run.picture();
    EXPECT_EQ(count(picture, R"(class="lifeline")"), run.execution.ranks.size());
    EXPECT_EQ(count(picture, R"(class="rank")"), run.execution.ranks.size());
  });
}

TEST(Draw, EveryMessageIsDrawnInItsStep) {
  for_each_algorithm({1, 2, 3, 5, 8, 11, 16}, [](const Sample& run) {
    using Place = std::tuple<Rank, Rank, std::int64_t, std::int64_t>;
    std::multiset<Place> drawn;
    std::multiset<Place> happened;
    for (const Transfer& one : run.timeline().transfers) drawn.insert({one.from, one.to, one.step, one.payload.units});
    for (const verify::Matched& one : run.execution.messages) happened.insert({one.from, one.to, one.step, one.units});
    EXPECT_EQ(drawn, happened);
    EXPECT_EQ(run.timeline().steps, run.execution.steps);
  });
}

TEST(Draw, DrawingsAreWellFormedAndSelfContained) {
  for_each_algorithm({1, 2, 5, 8}, [](const Sample& run) {
    const std::string picture = run.picture();
    EXPECT_EQ(XmlCheck::fault(picture), "");
    EXPECT_EQ(picture.rfind(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )", 0), 0U);
    EXPECT_EQ(count(picture, "href") + count(picture, "<script") + count(picture, "<style"), 0U);
    EXPECT_EQ(count(picture, "nan") + count(picture, "inf"), 0U);
  });
}

TEST(Draw, TheCheckOfWellFormednessFindsFaults) {
  EXPECT_EQ(XmlCheck::fault("<a b=\"c\"><d/>&lt;</a>\n"), "");
  EXPECT_NE(XmlCheck::fault("<a><b></a></b>"), "");
  EXPECT_NE(XmlCheck::fault("<a>"), "");
  EXPECT_NE(XmlCheck::fault("<a b=c/>"), "");
  EXPECT_NE(XmlCheck::fault("<a b=\"c/>"), "");
  EXPECT_NE(XmlCheck::fault("<a>x & y</a>"), "");
  EXPECT_NE(XmlCheck::fault("<a>x < y</a>"), "");
}

TEST(Draw, TextIsEscaped) {
  const Sample run(algorithm(Collective::bcast, "binomial"), {.ranks = 3, .count = 1});
  const std::string picture = run.picture({"a < b & \"c\"\x01", "<script>"});
  EXPECT_EQ(XmlCheck::fault(picture), "");
  EXPECT_NE(picture.find("a &lt; b &amp; &quot;c&quot;<"), std::string::npos);
  EXPECT_EQ(picture.find("<script>"), std::string::npos);
}

TEST(Draw, TooManyRanksAreRejected) {
  const Algorithm& binomial = algorithm(Collective::bcast, "binomial");
  EXPECT_NO_THROW(Sample(binomial, {.ranks = 64, .count = 1}).picture());
  try {
    Sample(binomial, {.ranks = 65, .count = 1}).picture();
    FAIL() << "65 ranks were drawn";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("at most 64"), std::string::npos);
  }
}

TEST(Draw, TheSameCollectiveGivesTheSameText) {
  const Problem problem{.ranks = 7, .count = 9};
  const Algorithm& ring = algorithm(Collective::allreduce, "ring");
  EXPECT_EQ(Sample(ring, problem).picture(), Sample(ring, problem).picture());
}

TEST(Draw, OneRankSaysThatThereAreNoMessages) {
  for_each_algorithm({1}, [](const Sample& run) { EXPECT_EQ(count(run.picture(), ">no messages<"), 1U); });
  for_each_algorithm({4}, [](const Sample& run) { EXPECT_EQ(count(run.picture(), ">no messages<"), 0U); });
}

TEST(Draw, ARingIsPartialOnItsFirstRoundAndFinalOnItsSecond) {
  const Sample run(algorithm(Collective::allreduce, "ring"), {.ranks = 5, .count = 10});
  for (const Transfer& transfer : run.timeline().transfers) EXPECT_EQ(transfer.payload.all, transfer.step > 4);
  EXPECT_EQ(count(run.picture(), ", partial<"), 20U);
  EXPECT_EQ(count(run.picture(), ", final<"), 20U);
  EXPECT_EQ(count(run.picture(), R"(<g class="reduce")"), 20U + 1U);  // one in the legend
}

TEST(Draw, TheLegendExplainsOnlyWhatOccurs) {
  const std::string tree = Sample(algorithm(Collective::bcast, "binomial"), {.ranks = 6, .count = 4}).picture();
  EXPECT_EQ(count(tree, "partial result") + count(tree, ">reduce<") + count(tree, "part of the data"), 0U);
  const std::string cube =
      Sample(algorithm(Collective::allreduce, "recursive_doubling"), {.ranks = 8, .count = 4}).picture();
  EXPECT_EQ(count(cube, "partial result"), 1U);
  EXPECT_EQ(count(cube, "final result") + count(cube, "part of the data"), 0U);
}

TEST(Draw, ColourFollowsThePartOfTheDataWhereverItLies) {
  for (bool in_place : {false, true}) {
    const Sample run(algorithm(Collective::allreduce, "ring"), {.ranks = 8, .count = 8, .in_place = in_place});
    const Timeline timeline = run.timeline();
    const Palette palette(timeline);
    EXPECT_EQ(palette.colour_by(), ColourBy::part);
    std::map<std::int64_t, std::vector<std::string>> colours;  // by part
    for (const Transfer& transfer : timeline.transfers) {
      colours[transfer.payload.part.begin].push_back(palette.of(transfer));
    }
    ASSERT_EQ(colours.size(), 8U);
    std::set<std::string> distinct;
    for (const auto& [part, of_part] : colours) {
      EXPECT_EQ(of_part, std::vector<std::string>(14, of_part.front())) << "part " << part;
      distinct.insert(of_part.front());
    }
    EXPECT_EQ(distinct.size(), 8U);
  }
}

TEST(Draw, ColourShowsTheSourceIfRanksSendSeparateData) {
  const Timeline timeline = Sample(algorithm(Collective::alltoallv, "pairwise"), {.ranks = 5}).timeline();
  const Palette palette(timeline);
  EXPECT_EQ(palette.colour_by(), ColourBy::source);
  for (const Transfer& transfer : timeline.transfers) EXPECT_EQ(palette.of(transfer), palette.of_source(transfer.from));
}

TEST(Draw, RingsWrapAroundTheEdgeAndTreesAndCubesDoNot) {
  const auto around = [](Collective collective, std::string_view name, Rank ranks) {
    const Timeline timeline = Sample(algorithm(collective, name), {.ranks = ranks, .count = 16}).timeline();
    return std::count_if(timeline.transfers.begin(), timeline.transfers.end(),
                         [](const auto& one) { return one.around; });
  };
  EXPECT_EQ(around(Collective::allreduce, "ring", 8), 14);
  EXPECT_EQ(around(Collective::barrier, "dissemination", 8), 1 + 2);
  EXPECT_EQ(around(Collective::allreduce, "ring", 2), 0);
  EXPECT_EQ(around(Collective::bcast, "linear", 8), 0);
  for (Rank ranks = 2; ranks <= 33; ++ranks) {
    EXPECT_EQ(around(Collective::bcast, "binomial", ranks), 0);
    EXPECT_EQ(around(Collective::allreduce, "rabenseifner", ranks), 0);
  }
}

TEST(Draw, ALifelineShowsWhenARankHasItsResult) {
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(Sample(algorithm(Collective::bcast, "binomial"), {.ranks = 4, .count = 1}).timeline().holds_from,
            (Steps{0, 2, 1, 2}));
  EXPECT_EQ(
      Sample(algorithm(Collective::allreduce, "recursive_doubling"), {.ranks = 3, .count = 1}).timeline().holds_from,
      (Steps{3, 2, 2}));
  EXPECT_EQ(Sample(algorithm(Collective::barrier, "dissemination"), {.ranks = 4}).timeline().holds_from, (Steps(4, 2)));
}

// A handwritten broadcast.
Algorithm by_hand(void (*build)(Builder&, const Problem&)) {
  Algorithm made = algorithm(Collective::bcast, "linear");
  made.build = build;
  return made;
}

TEST(Draw, ReadsOfSharedMemoryAreArrowsFromTheirOwner) {
  const Algorithm shared = by_hand([](Builder& builder, const Problem& problem) {
    builder.counters(1, 1);
    const Region slot = builder.slot(problem.count);
    builder.in_order([&] {
      if (problem.rank == 0) {
        builder.copy(problem.output, slot);
        builder.publish(0, 1);
      } else {
        builder.wait(0, 0, 1);
        builder.copy(builder.slot_of(0, 0, problem.count), problem.output);
      }
    });
  });
  const Sample run(shared, {.ranks = 4, .count = 3});
  ASSERT_EQ(run.execution.fault, "");
  const std::string picture = run.picture();
  EXPECT_EQ(XmlCheck::fault(picture), "");
  EXPECT_EQ(count(picture, R"(<g class="shared")"), 3U);
  EXPECT_EQ(count(picture, "memory that other ranks access"), 1U);
  EXPECT_EQ(run.timeline().holds_from, (std::vector<std::int64_t>{0, 1, 1, 1}));
}

TEST(Draw, PutsAreArrowsAndNotificationsAreNot) {
  const Algorithm one_sided = by_hand([](Builder& builder, const Problem& problem) {
    builder.notices(2, 1);
    builder.in_order([&] {
      if (problem.rank == 0) {
        builder.await(1, 1);  // rank 1 is ready
        builder.put(1, problem.output, builder.at(1, problem.output));
        builder.flush(1);
        builder.notify(1, 0, 1);
      } else {
        builder.notify(0, 1, 1);
        builder.await(0, 1);
      }
    });
  });
  const Sample run(one_sided, {.ranks = 2, .count = 3});
  ASSERT_EQ(run.execution.fault, "");
  const std::string picture = run.picture();
  EXPECT_EQ(XmlCheck::fault(picture), "");
  EXPECT_EQ(count(picture, R"(<g class="put")"), 1U);
  EXPECT_EQ(run.timeline().steps, 1);
  EXPECT_EQ(run.timeline().holds_from, (std::vector<std::int64_t>{0, 1}));
}

TEST(Draw, GetsAreArrowsFromWhereTheDataIs) {
  const Algorithm pulled = by_hand([](Builder& builder, const Problem& problem) {
    builder.notices(2, 1);
    builder.in_order([&] {
      if (problem.rank == 0) {
        builder.notify(1, 0, 1);
        builder.await(1, 1);
      } else {
        builder.await(0, 1);
        builder.get(0, builder.at(0, problem.output), problem.output);
        builder.notify(0, 1, 1);
      }
    });
  });
  const Sample run(pulled, {.ranks = 2, .count = 3});
  ASSERT_EQ(run.execution.fault, "");
  EXPECT_EQ(count(run.picture(), R"(<g class="get")"), 1U);
  ASSERT_EQ(run.timeline().transfers.size(), 1U);
  EXPECT_EQ(run.timeline().transfers.front().from, 0);
  EXPECT_EQ(run.timeline().holds_from, (std::vector<std::int64_t>{0, 1}));
}

TEST(Draw, AnIncompleteRunIsDrawnAsFarAsItGot) {
  const Algorithm stuck = by_hand([](Builder& builder, const Problem& problem) {
    if (problem.rank == 0) builder.send(1, problem.output);
    if (problem.rank == 1) builder.receive(0, problem.output);
    if (problem.rank == 1) builder.send(2, problem.output);
  });
  const Sample run(stuck, {.ranks = 3, .count = 1});
  ASSERT_NE(run.execution.fault, "");
  EXPECT_EQ(count(run.picture(), R"(<g class="message")"), 1U);
  EXPECT_EQ(count(run.picture(), "the run did not complete"), 1U);
}

}  // namespace
}  // namespace quadrille::draw
