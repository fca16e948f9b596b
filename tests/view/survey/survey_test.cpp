#include "survey/survey.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "draw/count.hpp"
#include "draw/xml.hpp"

namespace quadrille::survey {
namespace {

using machine::Part;

template <std::size_t length>
void put(const std::string& text, std::array<char, length>& into) {
  std::copy(text.begin(), text.end(), into.begin());
}

Site site(int node, int rack = -1, machine::Position position = {}) {
  Site made;
  made.node = static_cast<std::uint64_t>(node + 1);
  made.rack = static_cast<std::uint64_t>(rack + 1);
  put("node" + std::to_string(node), made.host);
  if (rack >= 0) put(std::string(1, static_cast<char>('a' + rack)), made.rack_name);
  made.position = position;
  return made;
}

machine::Position position(std::int32_t package, std::int32_t numa, std::int32_t l3, std::int32_t core) {
  return {{package, numa, l3, core}};
}

// 4 racks of 4 nodes of 4.
std::vector<Site> large() {
  std::vector<Site> sites;
  for (int rank = 0; rank < 64; ++rank) sites.push_back(site(rank / 4, rank / 16));
  return sites;
}

// Two packages of two cores, a rank on each.
std::vector<Site> bound() {
  std::vector<Site> sites;
  for (int rank = 0; rank < 4; ++rank) sites.push_back(site(0, -1, position(rank / 2, rank / 2, rank / 2, rank)));
  return sites;
}

std::vector<Level> levels(const Survey& survey) {
  std::vector<Level> all;
  for (const Layer& layer : survey.layers) all.push_back(layer.level);
  return all;
}

TEST(Survey, RacksHaveNodesAndNodesRanks) {
  const Survey survey = survey_of(large());
  EXPECT_EQ(levels(survey), (std::vector{Level::rack, Level::node}));
  ASSERT_EQ(survey.domains.size(), 4U);
  EXPECT_EQ(survey.domains[2].title(), "rack c");
  ASSERT_EQ(survey.domains[2].inside.size(), 4U);
  EXPECT_EQ(survey.domains[2].inside[1].title(), "node9");
  EXPECT_EQ(survey.domains[2].inside[1].members, (std::vector<Rank>{36, 37, 38, 39}));
  EXPECT_EQ(survey.domains[2].inside[1].leader, 36);
  EXPECT_EQ(survey.layers[0].leaders, (std::vector<Rank>{0, 16, 32, 48}));
  EXPECT_EQ(survey.layers[1].leaders.size(), 16U);
}

TEST(Survey, ASingleNodeIsShown) {
  const Survey survey = survey_of(std::vector{site(3), site(3)});
  ASSERT_EQ(survey.domains.size(), 1U);
  EXPECT_EQ(survey.domains[0].title(), "node3");
  EXPECT_EQ(survey.domains[0].members, (std::vector<Rank>{0, 1}));
  EXPECT_TRUE(survey.domains[0].inside.empty());
}

TEST(Survey, ALevelThatSeparatesNoRanksIsOmitted) {
  const Survey survey = survey_of(bound());
  EXPECT_EQ(levels(survey), (std::vector{Level::node, Level::package, Level::core}));
  const std::vector<Domain>& packages = survey.domains.at(0).inside;
  ASSERT_EQ(packages.size(), 2U);
  EXPECT_EQ(packages[1].title(), "package 1");
  EXPECT_EQ(packages[1].leader, 2);
  ASSERT_EQ(packages[1].inside.size(), 2U);
  EXPECT_EQ(packages[1].inside[1].title(), "core 3");
  EXPECT_TRUE(survey.unbound.empty());
}

TEST(Survey, AnUnboundRankHidesTheLevelOnItsNodeOnly) {
  std::vector<Site> sites = bound();
  sites[1].position[Part::core] = -1;
  for (int rank = 0; rank < 2; ++rank) sites.push_back(site(1, -1, position(0, 0, 0, rank)));
  const Survey survey = survey_of(sites);
  ASSERT_EQ(survey.domains.size(), 2U);
  ASSERT_EQ(survey.domains[0].inside.size(), 2U);
  EXPECT_EQ(survey.domains[0].inside[0].level, Level::package);
  EXPECT_TRUE(survey.domains[0].inside[0].inside.empty());
  // The other has one package, which separates no ranks.
  ASSERT_EQ(survey.domains[1].inside.size(), 2U);
  EXPECT_EQ(survey.domains[1].inside[0].title(), "core 0");
  EXPECT_EQ(survey.unbound, (std::vector<Rank>{1}));
  EXPECT_EQ(survey.layers.back().leaders, (std::vector<Rank>{4, 5}));
}

TEST(Survey, EveryRankIsInOneLeafInAnyOrder) {
  std::vector<Site> sites;
  for (int rank = 0; rank < 48; ++rank) {
    sites.push_back(site(rank % 5, rank % 5 % 3 - 1, position(rank % 2, rank % 2, rank % 4, rank % 8)));
  }
  const Survey survey = survey_of(sites);
  std::vector<Rank> seen;
  const auto look = [&seen](const auto& again, const std::vector<Domain>& domains) -> void {
    for (const Domain& domain : domains) {
      EXPECT_TRUE(std::count(domain.members.begin(), domain.members.end(), domain.leader) == 1);
      if (domain.inside.empty()) seen.insert(seen.end(), domain.members.begin(), domain.members.end());
      again(again, domain.inside);
    }
  };
  look(look, survey.domains);
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), 48U);
  for (Rank rank = 0; rank < 48; ++rank) EXPECT_EQ(seen[static_cast<std::size_t>(rank)], rank);
}

TEST(Survey, HostsWithoutARackFormOne) {
  const Survey survey = survey_of(std::vector{site(0, 0), site(1), site(2), site(3, 1)});
  ASSERT_EQ(survey.domains.size(), 3U);
  EXPECT_EQ(survey.domains[1].title(), "no rack");
  EXPECT_EQ(survey.domains[1].members, (std::vector<Rank>{1, 2}));
}

TEST(Survey, ListsAreAbbreviated) {
  const auto abbreviated = [](std::vector<Rank> ranks) { return survey::abbreviated(ranks); };
  EXPECT_EQ(abbreviated({}), "");
  EXPECT_EQ(abbreviated({7}), "7");
  EXPECT_EQ(abbreviated({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(abbreviated({0, 4, 8, 12}), "0,4,...,12");
  EXPECT_EQ(abbreviated({0, 4, 8}), "0,4,8");
  EXPECT_EQ(abbreviated({1, 2, 4, 5, 6}), "1-2,4-6");
  EXPECT_EQ(abbreviated({5, 3, 4}), "5,3-4");
  EXPECT_EQ(abbreviated({0, 0, 0, 0, 0}), "0,0,0,0,0");
}

TEST(Survey, TheTextNamesEveryDomainOnce) {
  Survey survey = survey_of(bound());
  survey.parts_known = true;
  survey.shared_memory = true;
  EXPECT_EQ(to_text(survey),
            "4 ranks on 1 node; ranks of a node share memory\n"
            "node0: ranks 0-3\n"
            "  package 0: ranks 0-1 on cores 0-1\n"
            "  package 1: ranks 2-3 on cores 2-3\n"
            "leaders for root 0: nodes 0; packages 0,2; cores 0-3\n");
}

TEST(Survey, TheTextReportsMissingInformation) {
  Survey survey = survey_of(std::vector{site(0), site(1)});
  EXPECT_NE(to_text(survey).find("hwloc is missing"), std::string::npos);
  survey.parts_known = true;
  EXPECT_NE(to_text(survey).find("no rank is bound to a core"), std::string::npos);
  survey.shared_memory = false;
  EXPECT_NE(to_text(survey).find("share no memory"), std::string::npos);
}

TEST(Survey, TheJsonHasTheTree) {
  Survey survey = survey_of(large());
  survey.shared_memory = true;
  const auto json = nlohmann::json::parse(to_json(survey));
  EXPECT_EQ(json["ranks"], 64);
  EXPECT_EQ(json["nodes"], 16);
  EXPECT_EQ(json["racks"], 4);
  EXPECT_EQ(json["shared_memory"], true);
  EXPECT_EQ(json["levels"][0]["leaders"], (std::vector<int>{0, 16, 32, 48}));
  EXPECT_EQ(json["tree"][3]["inside"][0]["name"], "node12");
  EXPECT_EQ(json["tree"][3]["inside"][0]["ranks"], (std::vector<int>{48, 49, 50, 51}));
}

TEST(Survey, TheDrawingHasABoxForEveryDomainAndATileForEveryRank) {
  for (const auto& [survey, boxes, tiles, marks] :
       {std::tuple{survey_of(large()), 20U, 64U, 2U}, std::tuple{survey_of(bound()), 7U, 4U, 2U},
        std::tuple{survey_of(std::vector{site(0)}), 1U, 1U, 1U}}) {
    const std::string picture = to_svg(survey);
    EXPECT_EQ(draw::XmlCheck::fault(picture), "");
    EXPECT_EQ(draw::count(picture, R"(class="box")"), boxes);
    EXPECT_EQ(draw::count(picture, R"(class="rank")"), tiles);
    EXPECT_EQ(draw::count(picture, "leads its "), marks);
    EXPECT_EQ(draw::count(picture, "nan") + draw::count(picture, "inf"), 0U);
  }
}

TEST(Survey, AHostNameMayContainAnyBytes) {
  Site odd = site(0);
  put("<\xff&\">", odd.host);
  const Survey survey = survey_of(std::vector{odd});
  EXPECT_EQ(draw::XmlCheck::fault(to_svg(survey)), "");
  EXPECT_EQ(nlohmann::json::parse(to_json(survey))["nodes"], 1);
}

TEST(Survey, ANodeWithoutRanksShowsItsCores) {
  setenv("HWLOC_SYNTHETIC", "pack:2 l3:2 core:2 pu:1", 1);
  const machine::Parts parts;
  unsetenv("HWLOC_SYNTHETIC");
  if (!parts.known()) GTEST_SKIP() << "built without hwloc";
  const Survey survey = survey_of("host", parts);
  EXPECT_EQ(to_text(survey),
            "this machine, 8 cores\n"
            "host: cores 0-7\n"
            "  package 0: cores 0-3\n"
            "    L3 0: cores 0-1\n"
            "    L3 1: cores 2-3\n"
            "  package 1: cores 4-7\n"
            "    L3 2: cores 4-5\n"
            "    L3 3: cores 6-7\n");
  EXPECT_EQ(nlohmann::json::parse(to_json(survey))["tree"][0]["inside"][1]["cores"], (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(draw::count(to_svg(survey), R"(class="rank")"), 8U);
  EXPECT_EQ(draw::count(to_svg(survey), "leads its "), 0U);
}

}  // namespace
}  // namespace quadrille::survey
