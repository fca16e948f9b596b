#include "hosts/hosts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "hosts/launch_files.hpp"

namespace quadrille::hosts {
namespace {

using Names = std::vector<std::string>;

std::string refusal(const auto& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Hosts, AreReadInTheFormatsOfBothMpis) {
  const std::vector<Host> expected = {{"a", 4}, {"b.org", 2}, {"c", 1}};
  EXPECT_EQ(parse_hosts("# ours\na slots=4 max_slots=8\nb.org:2  # half\n\nc\n", "f"), expected);
  EXPECT_EQ(parse_hosts("a\na\nb:2\na:2\n", "f"), (std::vector<Host>{{"a", 4}, {"b", 2}}));
}

TEST(Hosts, ThatCantBeReadAreNamedWithTheirLine) {
  for (const char* const wrong : {"a\nb slots=0\n", "a\nb:x\n", "a\n:4\n", "a\nb slots=-1\n"}) {
    EXPECT_TRUE(has(refusal([&] { parse_hosts(wrong, "file"); }), "file:2: ")) << wrong;
  }
  EXPECT_TRUE(has(refusal([] { parse_hosts("# nothing\n", "file"); }), "file: no hosts"));
}

TEST(Hosts, AreNumbered) {
  EXPECT_EQ(numbered_hosts("2x3"), (std::vector<Host>{{"node0", 3}, {"node1", 3}}));
  for (const char* const other : {"hosts", "x", "2x", "x3", "0x3", "2x3x4", "box"}) {
    EXPECT_TRUE(numbered_hosts(other).empty()) << other;
  }
}

TEST(Hosts, AreTheSameWithAndWithoutTheirDomain) {
  EXPECT_TRUE(same_host("a", "a"));
  EXPECT_TRUE(same_host("a.x.org", "a"));
  EXPECT_FALSE(same_host("a.x.org", "a.y.org"));
  EXPECT_FALSE(same_host("a", "ab"));
}

TEST(LaunchFiles, AreAsTheLaunchersTakeThem) {
  const Names hosts = {"b", "a", "a", "b"};
  EXPECT_EQ(one_a_line(hosts), "b\na\na\nb\n");
  EXPECT_EQ(rankfile(hosts, false), "rank 0=b slot=*\nrank 1=a slot=*\nrank 2=a slot=*\nrank 3=b slot=*\n");
  EXPECT_EQ(rankfile(hosts, true), "rank 0=b slot=0\nrank 1=a slot=0\nrank 2=a slot=1\nrank 3=b slot=1\n");
}

TEST(LaunchFiles, ForHydraListAHostTwiceOnlyIfTheyHaveTo) {
  EXPECT_EQ(hydra_hosts(Names{"a", "a", "b"}).text, "a:2\nb:1\n");
  EXPECT_EQ(hydra_hosts(Names{"a", "b", "a", "b", "a"}).text, "a:1\nb:1\n");
  EXPECT_FALSE(hydra_hosts(Names{"a", "b", "a", "b", "a"}).listed_again);
  EXPECT_EQ(hydra_hosts(Names{"b", "a", "a", "b"}).text, "b:1\na:2\n");
  const HydraHosts again = hydra_hosts(Names{"b", "a", "a", "c", "b", "b"});
  EXPECT_EQ(again.text, "b:1\na:2\nc:1\nb:2\n");
  EXPECT_EQ(again.listed_again, 4);
}

TEST(LaunchFiles, SayWhereEachRankIs) {
  constexpr unsigned seed = 3;
  std::mt19937 random(seed);
  for (int i = 0; i < 500; ++i) {
    Names hosts(1 + random() % 12);
    for (std::string& one : hosts) one = std::string(1, static_cast<char>('a' + random() % 4));
    const int ranks = static_cast<int>(hosts.size());
    for (const std::string& text :
         {one_a_line(hosts), rankfile(hosts, true), rankfile(hosts, false), hydra_hosts(hosts).text}) {
      ASSERT_EQ(hosts_of_ranks(text, "f", ranks), hosts) << "seed " << seed << ", problem " << i << "\n" << text;
    }
  }
}

TEST(LaunchFiles, OfAnotherNumberOfRanksAreRefused) {
  EXPECT_EQ(refusal([] { hosts_of_ranks("a\nb\n", "f", 3); }), "f places 2 ranks, and there are 3");
  EXPECT_EQ(refusal([] { hosts_of_ranks("rank 0=a slot=*\nrank 2=a slot=*\n", "f", 2); }),
            "f places rank 2, and there are 2");
  EXPECT_TRUE(has(refusal([] { hosts_of_ranks("rank x=a\n", "f", 1); }), "f:1: 'rank x=a' is neither"));
  EXPECT_EQ(hosts_of_ranks("a:1\nb:1\n", "f", 3), (Names{"a", "b", "a"}));
}

}  // namespace
}  // namespace quadrille::hosts
