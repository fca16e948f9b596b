#include "walk/walk.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "algorithms/catalogue.hpp"
#include "draw/xml.hpp"
#include "topology/topology.hpp"

namespace quadrille::walk {
namespace {

using draw::Payload;

constexpr Rank per_node = 3;

// A walk with what it is of.
struct Sample {
  Topology nodes;
  verify::Subject subject;
  Walk walk;

  Sample(const Algorithm& algorithm, Problem problem) : nodes(Topology::nodes(problem.ranks, per_node)) {
    if (algorithm.hierarchical) {
      problem.topology = &nodes;
      problem.room = 1 << 20;
      problem.offloads = true;
    }
    const std::int64_t count = problem.count;
    subject = verify::subject_of(algorithm, problem, [count](Rank, Rank) { return count; });
    walk = walk_of(subject);
  }
  Sample(const Sample&) = delete;

  std::int64_t last_step() const { return walk.timeline.steps; }
};

// As `quadrille show` has it by default.
Problem shown(const Algorithm& algorithm, Rank ranks) {
  const Traits of = traits(algorithm.collective);
  Problem problem{.ranks = ranks, .width = algorithm.width};
  problem.count = !of.moves_data() ? 0 : of.in_blocks() ? 1 : ranks;
  if (algorithm.segmented) problem.segment = std::max<std::int64_t>(1, (problem.count + 3) / 4);
  problem.in_place = algorithm.restrictions.in_place;
  problem.exposed = algorithm.restrictions.exposed;
  return problem;
}

bool possible(const Algorithm& algorithm, Problem problem) {
  const Topology nodes = Topology::nodes(problem.ranks, per_node);
  if (algorithm.hierarchical) {
    problem.topology = &nodes;
    problem.room = 1 << 20;
    problem.offloads = true;
  }
  return refusal(algorithm, problem).empty() && (!algorithm.restrictions.one_node || problem.ranks <= per_node);
}

template <class Check>
void for_each_algorithm(const std::vector<Rank>& sizes, Check&& check) {
  for (const Algorithm* one : catalogue()) {
    for (const Rank ranks : sizes) {
      const Problem problem = shown(*one, ranks);
      if (!possible(*one, problem)) continue;
      SCOPED_TRACE(fmt::format("{} {} on {} ranks", name(one->collective), one->name, ranks));
      check(Sample(*one, problem));
    }
  }
}

const Algorithm& algorithm(Collective collective, std::string_view name) {
  return *find_algorithm(collective, name);
}

std::int64_t end_of(const Sample& sample, Rank rank, const Meaning& meaning) {
  return meaning.output.length == whole ? sample.subject.units(rank, meaning.output.buffer, meaning.output.block)
                                        : meaning.output.offset + meaning.output.length;
}

// What a place must hold in the end, by the definition of the collective.
Payload expected(const Place& place, const Meaning& meaning) {
  Payload payload;
  payload.ranks = std::uint64_t{1} << meaning.source;
  if (meaning.reduced) {
    payload.ranks = 0;
    for (Rank rank = meaning.source; rank < meaning.end; ++rank) payload.ranks |= std::uint64_t{1} << rank;
  }
  payload.first_block = payload.last_block = meaning.from.block;
  const std::int64_t shift = meaning.from.offset - meaning.output.offset;
  payload.part = {place.part.begin + shift, place.part.end + shift};
  payload.units = place.part.end - place.part.begin;
  return payload;
}

TEST(Walk, EndsWithTheResultOfTheCollectiveOnEveryRank) {
  std::size_t compared = 0;
  for_each_algorithm({1, 2, 3, 5, 8, 11, 16}, [&](const Sample& sample) {
    for (Rank rank = 0; rank < sample.walk.timeline.ranks; ++rank) {
      const auto held = sample.walk.held(rank, sample.last_step());
      for (const Meaning& meaning : sample.subject.meanings[static_cast<std::size_t>(rank)]) {
        for (std::size_t i = 0; i < sample.walk.places.size(); ++i) {
          const Place& place = sample.walk.places[i];
          const bool inside = place.buffer == meaning.output.buffer && place.block == meaning.output.block &&
                              place.part.begin >= meaning.output.offset &&
                              place.part.end <= end_of(sample, rank, meaning);
          if (!inside) continue;
          Payload wanted = expected(place, meaning);
          wanted.all = held[i].all;
          ASSERT_EQ(held[i], wanted) << "rank " << rank << ", place " << i;
          ++compared;
        }
      }
    }
  });
  EXPECT_GT(compared, 20'000U);
}

TEST(Walk, BeginsWithWhatTheCallersGave) {
  const Sample sample(algorithm(Collective::bcast, "binomial"), {.ranks = 8, .root = 5, .count = 8});
  for (Rank rank = 0; rank < 8; ++rank) {
    const auto held = sample.walk.held(rank, 0);
    ASSERT_EQ(held.size(), 1U);
    EXPECT_EQ(held.front().ranks, rank == 5 ? 1U << 5U : 0U);
  }
}

TEST(Walk, EachStepOfABinomialBroadcastDoublesTheRanksWithTheData) {
  const Sample sample(algorithm(Collective::bcast, "binomial"), {.ranks = 16, .count = 4});
  for (std::int64_t step = 0; step <= 4; ++step) {
    std::int64_t with_data = 0;
    for (Rank rank = 0; rank < 16; ++rank) with_data += sample.walk.held(rank, step).front().ranks == 1 ? 1 : 0;
    EXPECT_EQ(with_data, std::int64_t{1} << step);
  }
}

TEST(Walk, ARingAllreduceCombinesOneRankMoreInEachStep) {
  const Sample sample(algorithm(Collective::allreduce, "ring"), {.ranks = 8, .count = 8, .in_place = true});
  for (std::int64_t step = 0; step <= 7; ++step) {
    for (Rank rank = 0; rank < 8; ++rank) {
      int most = 0;
      for (const Payload& payload : sample.walk.held(rank, step)) most = std::max(most, std::popcount(payload.ranks));
      EXPECT_EQ(most, step + 1);
    }
  }
}

// Whatever a transfer carries, its sender holds at the end of the step before or of that step, since what is received
// within a step may replace it.
TEST(Walk, NobodySendsWhatItDoesNotHold) {
  std::size_t looked_at = 0;
  for_each_algorithm({2, 3, 5, 8}, [&](const Sample& sample) {
    for (const draw::Transfer& transfer : sample.walk.timeline.transfers) {
      if (transfer.kind != draw::TransferKind::message || transfer.units == 0) continue;
      std::set<std::tuple<std::uint64_t, std::int32_t, std::int64_t>> has;
      for (std::int64_t step = 0; step <= transfer.step; ++step) {
        for (const Payload& one : sample.walk.held(transfer.from, step)) {
          for (std::int64_t unit = one.part.begin; unit < one.part.end; ++unit) {
            has.insert({one.ranks, one.first_block, unit});
          }
        }
      }
      for (const Payload& piece : transfer.pieces) {
        ASSERT_TRUE(has.contains({piece.ranks, piece.first_block, piece.part.begin}))
            << "step " << transfer.step << ", " << transfer.from << " to " << transfer.to;
        ++looked_at;
      }
    }
  });
  EXPECT_GT(looked_at, 1000U);
}

TEST(Walk, ABarrierShowsOfWhomEachRankHasHeard) {
  const Sample sample(algorithm(Collective::barrier, "dissemination"), {.ranks = 8});
  ASSERT_EQ(sample.walk.heard.size(), 4U);
  for (std::size_t step = 0; step <= 3; ++step) {
    for (const std::uint64_t ranks : sample.walk.heard[step]) EXPECT_EQ(std::popcount(ranks), 1 << step);
  }
  EXPECT_NE(to_html(sample.walk, {"barrier", {}, {}, ""}).find("What each rank has heard of"), std::string::npos);
}

TEST(Walk, SharedMemoryAndWindowsAreToldFromMessages) {
  const Algorithm& levels = algorithm(Collective::allreduce, "hierarchical");
  const Sample nodes(levels, shown(levels, 9));
  const std::string html = to_html(nodes.walk, {"t", {}, {}, ""});
  EXPECT_NE(html.find("</span>message</li>"), std::string::npos);
  EXPECT_NE(html.find("shared memory</li>"), std::string::npos);
  EXPECT_NE(html.find("</span>ranks of a node</li>"), std::string::npos);
  EXPECT_EQ(html.find("window</li>"), std::string::npos);
  const Algorithm& one_sided = algorithm(Collective::bcast, "one_sided_binomial");
  const Sample window(one_sided, shown(one_sided, 8));
  const std::string other = to_html(window.walk, {"t", {}, {}, ""});
  EXPECT_NE(other.find("</span>put into a window</li>"), std::string::npos);
  EXPECT_EQ(other.find("</span>message</li>"), std::string::npos);
  EXPECT_EQ(other.find("</span>ranks of a node</li>"), std::string::npos);
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// Well-formed, without any reference to elsewhere.
void check_page(const std::string& html) {
  const std::string start = "<!DOCTYPE html>\n";
  ASSERT_TRUE(html.starts_with(start));
  EXPECT_EQ(draw::XmlCheck::fault(std::string_view(html).substr(start.size())), "");
  for (const char* what : {"http:", "https:", "//cdn", " src=", "@import"})
    EXPECT_EQ(occurrences(html, what), 0U) << what;
  EXPECT_EQ(occurrences(html, "url("), occurrences(html, "url(#"));
  EXPECT_EQ(occurrences(html, "href="), 1U);  // the empty icon
}

TEST(Walk, PagesAreWellFormedAndReferToNothing) {
  for_each_algorithm({1, 2, 5, 8}, [](const Sample& sample) { check_page(to_html(sample.walk, {"t", {}, {}, ""})); });
}

TEST(Walk, PagesOf64RanksAreBelow300KB) {
  std::size_t pages = 0;
  for_each_algorithm({64}, [&](const Sample& sample) {
    const std::string html = to_html(sample.walk, {"t", {}, {}, ""});
    EXPECT_LT(html.size(), 300'000U);
    ++pages;
  });
  EXPECT_GT(pages, 50U);
}

TEST(Walk, TextIsEscaped) {
  const Sample sample(algorithm(Collective::bcast, "binomial"), {.ranks = 3, .count = 3});
  const std::string hostile = "</script><script>alert(1)</script>\" onload=\"x' & \x1b[31m\xff";
  const std::string html = to_html(sample.walk, {hostile, {hostile}, {hostile}, hostile});
  check_page(html);
  EXPECT_EQ(occurrences(html, "<script>"), 1U);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
}

TEST(Walk, WhatIsNotReadableIsRejected) {
  const Algorithm& ring = algorithm(Collective::allreduce, "ring");
  EXPECT_THROW(Sample(ring, {.ranks = 65, .count = 65}), std::invalid_argument);
  const Algorithm& chain = algorithm(Collective::bcast, "pipelined_chain");
  try {
    Sample(chain, {.ranks = 3, .count = 2000, .segment = 1});
    FAIL() << "2000 parts were shown";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("--segment"), std::string::npos);
  }
}

TEST(Walk, TheSameCollectiveGivesTheSamePage) {
  const Algorithm& bruck = algorithm(Collective::alltoall, "bruck");
  const Sample one(bruck, shown(bruck, 8));
  const Sample other(bruck, shown(bruck, 8));
  EXPECT_EQ(to_html(one.walk, {"t", {}, {}, ""}), to_html(other.walk, {"t", {}, {}, ""}));
}

}  // namespace
}  // namespace quadrille::walk
