#include "verify/provenance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace quadrille::verify {
namespace {

// Contents unit by unit.
class Units {
 public:
  explicit Units(std::int64_t units) : units_(static_cast<std::size_t>(units)) {}

  void write(std::int64_t begin, const std::vector<Held>& pieces) {
    for (const Held& piece : pieces) {
      for (std::int64_t i = piece.range.begin; i < piece.range.end; ++i)
        at(begin + i) = {piece.value.expression, piece.value.offset + i - piece.range.begin};
    }
  }

  std::optional<std::vector<Value>> read(Range range) const {
    std::vector<Value> found;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      found.push_back(units_[static_cast<std::size_t>(i)]);
      if (found.back().expression < 0) return std::nullopt;
    }
    return found;
  }

 private:
  Value& at(std::int64_t place) { return units_[static_cast<std::size_t>(place)]; }

  std::vector<Value> units_;
};

// What pieces hold, unit by unit, if they cover a range without gaps, and no two of them could be one.
std::optional<std::vector<Value>> units_of(const std::optional<std::vector<Held>>& pieces) {
  if (!pieces) return std::nullopt;
  std::vector<Value> units;
  for (const Held& piece : *pieces) {
    EXPECT_EQ(piece.range.begin, static_cast<std::int64_t>(units.size()));
    const bool continues = !units.empty() && units.back().expression == piece.value.expression &&
                           units.back().offset + 1 == piece.value.offset;
    EXPECT_FALSE(continues);
    for (std::int64_t i = 0; i < piece.range.end - piece.range.begin; ++i)
      units.push_back({piece.value.expression, piece.value.offset + i});
  }
  return units;
}

TEST(Contents, AgreeWithAUnitByUnitRecordOverThousandsOfPieces) {
  constexpr std::int64_t units = 8000;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::int64_t limit) {
      return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
    };
    Contents contents;
    Units expected(units);
    for (int round = 0; round < 20'000; ++round) {
      // Mostly short, so that there are many pieces; now and then a long one of many, or of one.
      const std::int64_t begin = below(units);
      const std::int64_t most = std::min(units - begin, below(2000) == 0 ? units / 3 : below(4));
      const bool whole = below(2) == 0;
      std::vector<Held> pieces;
      for (std::int64_t at = 0; at < most;) {
        const std::int64_t end = std::min(most, whole ? most : at + 1 + below(2));
        // Where expressions are few, neighbours often continue each other.
        pieces.push_back({{at, end}, {static_cast<std::int32_t>(below(3)), begin + at}});
        at = end;
      }
      contents.write(begin, pieces);
      expected.write(begin, pieces);
      const std::int64_t from = below(units);
      const Range range{from, std::min(units, from + (below(50) == 0 ? units : below(20)))};
      ASSERT_EQ(units_of(contents.read(range)), expected.read(range));
    }
    ASSERT_EQ(units_of(contents.read({0, units})), expected.read({0, units}));
  }
}

}  // namespace
}  // namespace quadrille::verify
