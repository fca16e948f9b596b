#include "schedule/hazards.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <set>
#include <vector>

namespace quadrille {
namespace {

using Ids = std::set<Hazards::Id>;

// What Hazards promises, unit by unit.
class Units {
 public:
  explicit Units(std::int64_t units) : units_(static_cast<std::size_t>(units)) {}

  Ids access(Range range, bool write, Hazards::Id id, bool keep) {
    Ids conflicts;
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i) {
      Unit& unit = units_[i];
      conflicts.insert(unit.writers.begin(), unit.writers.end());
      if (write) conflicts.insert(unit.readers.begin(), unit.readers.end());
      if (write && !keep) unit = {};
      (write ? unit.writers : unit.readers).insert(id);
    }
    return conflicts;
  }

 private:
  struct Unit {
    Ids writers;
    Ids readers;
  };
  std::vector<Unit> units_;
};

Ids access(Hazards& hazards, const Region& block, Range range, bool write, Hazards::Id id, bool keep = false) {
  Ids conflicts;
  hazards.access(block, range, write, id, keep, [&](Hazards::Id earlier) { conflicts.insert(earlier); });
  return conflicts;
}

// Random accesses to two blocks; now and then a long one, which removes many pieces.
void expect_agreement(Hazards& hazards, std::int64_t units, Hazards::Id accesses, unsigned seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
  };
  const Region block{.buffer = Buffer::output, .length = units};
  const Region another{.buffer = Buffer::input, .length = units};
  Units expected(units);
  Units expected_of_another(units);
  for (Hazards::Id id = 0; id < accesses; ++id) {
    const std::int64_t begin = below(units);
    const std::int64_t length = below(std::min<std::int64_t>(300, units)) == 0 ? below(units / 2) : below(4);
    const Range range{begin, std::min(units, begin + length)};
    const bool write = below(2) == 0;
    const bool keep = below(4) == 0;
    ASSERT_EQ(access(hazards, block, range, write, id, keep), expected.access(range, write, id, keep));
    if (id % 3 != 0) continue;
    ASSERT_EQ(access(hazards, another, range, write, id, keep), expected_of_another.access(range, write, id, keep));
  }
}

TEST(Hazards, AgreeWithAUnitByUnitRecord) {
  Hazards hazards;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    hazards.clear();
    expect_agreement(hazards, 20, 40, seed);
  }
}

TEST(Hazards, AgreeWithItOverThousandsOfPieces) {
  Hazards hazards;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    hazards.clear();
    expect_agreement(hazards, 4000, 6000, seed);
  }
}

// Processor time to write and to read all parts of a block, each `stride` from the one before.
double seconds_with(std::int64_t stride) {
  constexpr std::int64_t parts = 200'000;
  const Region block{.buffer = Buffer::slot, .length = parts};
  Hazards hazards;
  const std::clock_t begin = std::clock();
  for (const Hazards::Id id : {0, 1}) {
    for (std::int64_t i = 0; i < parts; ++i) {
      const std::int64_t part = i * stride % parts;
      EXPECT_EQ(access(hazards, block, {part, part + 1}, id == 0, id).size(), static_cast<std::size_t>(id));
    }
  }
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// As on a fat node, where each rank in turn writes its part of everybody's block. Step by step from one part to the
// next takes thousands of times as long.
TEST(Hazards, OfFarPartsAreFoundInTimeThatHardlyGrows) {
  EXPECT_LT(seconds_with(75'011), 100 * std::max(seconds_with(1), 0.01));
}

}  // namespace
}  // namespace quadrille
