#include "machine/parts.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <vector>

namespace quadrille::machine {
namespace {

// A synthetic machine of hwloc.
Parts synthetic(const char* description) {
  setenv("HWLOC_SYNTHETIC", description, 1);
  Parts parts;
  unsetenv("HWLOC_SYNTHETIC");
  return parts;
}

class PartsOfAMachine : public testing::Test {
 protected:
  void SetUp() override {
    if (!Parts().known()) GTEST_SKIP() << "built without hwloc";
  }
};

using Numbers = std::array<std::int32_t, 4>;

TEST_F(PartsOfAMachine, ProcessorsOfOneCoreAreInAllEnclosingParts) {
  const Parts parts = synthetic("pack:2 numa:1 l3:2 core:2 pu:2");
  EXPECT_EQ(parts.count(Part::package), 2);
  EXPECT_EQ(parts.count(Part::numa), 2);
  EXPECT_EQ(parts.count(Part::l3), 4);
  EXPECT_EQ(parts.count(Part::core), 8);
  EXPECT_EQ(parts.position(std::vector{0, 1}).parts, (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(parts.position(std::vector{15}).parts, (Numbers{1, 1, 3, 7}));
}

TEST_F(PartsOfAMachine, AProcessThatMayLeaveAPartIsNotBoundToIt) {
  const Parts parts = synthetic("pack:2 numa:1 l3:2 core:2 pu:1");
  EXPECT_EQ(parts.position(std::vector{4, 5}).parts, (Numbers{1, 1, 2, -1}));
  EXPECT_EQ(parts.position(std::vector{4, 7}).parts, (Numbers{1, 1, -1, -1}));
  EXPECT_EQ(parts.position(std::vector{3, 4}).parts, (Numbers{-1, -1, -1, -1}));
}

TEST_F(PartsOfAMachine, SeveralNumaDomainsMayShareAPackage) {
  const Parts parts = synthetic("pack:1 group:2 numa:1 l3:1 core:4 pu:1");
  EXPECT_EQ(parts.position(std::vector{5, 6}).parts, (Numbers{0, 1, 1, -1}));
  EXPECT_EQ(parts.position(std::vector{3, 4}).parts, (Numbers{0, -1, -1, -1}));
}

TEST_F(PartsOfAMachine, MissingPartsHaveNoPosition) {
  const Parts parts = synthetic("pack:2 core:2 pu:1");
  EXPECT_EQ(parts.count(Part::l3), 0);
  EXPECT_EQ(parts.position(std::vector{0})[Part::l3], -1);
  EXPECT_EQ(parts.position(std::vector{99}).parts, (Numbers{-1, -1, -1, -1}));
  EXPECT_EQ(parts.position({}).parts, (Numbers{-1, -1, -1, -1}));
}

TEST_F(PartsOfAMachine, EveryCoreHasItsPosition) {
  const std::vector<Position> cores = synthetic("pack:2 numa:1 l3:1 core:3 pu:2").cores();
  ASSERT_EQ(cores.size(), 6U);
  for (std::int32_t core = 0; core < 6; ++core) {
    EXPECT_EQ(cores[static_cast<std::size_t>(core)].parts, (Numbers{core / 3, core / 3, core / 3, core}));
  }
}

TEST(OwnProcessors, FollowTheBinding) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<int> all = own_processors();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(CPU_COUNT(&before)));
  cpu_set_t last;
  CPU_ZERO(&last);
  CPU_SET(static_cast<std::size_t>(all.back()), &last);
  ASSERT_EQ(sched_setaffinity(0, sizeof last, &last), 0);
  EXPECT_EQ(own_processors(), std::vector{all.back()});
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace quadrille::machine
