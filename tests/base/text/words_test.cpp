#include <gtest/gtest.h>

#include "text/nearest.hpp"
#include "text/size.hpp"
#include "text/wrap.hpp"

namespace quadrille::text {
namespace {

TEST(Nearest, IsTheNameWithTheFewestLettersChanged) {
  EXPECT_EQ(nearest("lst", {"show", "list", "verify"}), "list");
  EXPECT_EQ(nearest("alreduce", {"reduce", "allreduce"}), "allreduce");
  EXPECT_EQ(nearest("ehsow", {"show"}), "");
  EXPECT_EQ(nearest("hsow", {"show"}), "show");  // swapped letters are one change
  EXPECT_EQ(nearest("--jsn", {"--json", "--svg"}), "--json");
}

TEST(Nearest, IgnoresCaseAndTheKindOfDash) {
  EXPECT_EQ(nearest("Recursive-Doubling", {"ring", "recursive_doubling"}), "recursive_doubling");
}

TEST(Nearest, TakesTheBeginningOfANameForIt) {
  EXPECT_EQ(nearest("rabens", {"ring", "rabenseifner"}), "rabenseifner");
}

TEST(Nearest, IsNothingIfAllAreFar) {
  EXPECT_EQ(nearest("gossip", {"bcast", "scan"}), "");
  EXPECT_EQ(nearest("x", {"list"}), "");
  EXPECT_EQ(did_you_mean("gossip", {"bcast"}, "; see the list"), "; see the list");
  EXPECT_EQ(did_you_mean("bcats", {"bcast"}, "; see the list"), ": did you mean bcast?");
}

TEST(Sizes, HaveUnitsOf1024HoweverTheyAreWritten) {
  EXPECT_EQ(parse_bytes("8"), 8);
  EXPECT_EQ(parse_bytes("8B"), 8);
  for (const char* text : {"64K", "64k", "64KiB", "64KB", "64kb", "64 KiB"})
    EXPECT_EQ(parse_bytes(text), 65536) << text;
  EXPECT_EQ(parse_bytes("1MB"), 1 << 20);
  EXPECT_EQ(parse_bytes("2g"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1TiB"), std::int64_t{1} << 40);
}

TEST(Sizes, AreNothingElse) {
  for (const char* text : {"", "K", "8x", "1Mbit", "-1", "1.5K", "8 ", "1KiBs", "9223372036854775807K"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(Wrapped, LinesAreNoLongerThanTheWidth) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("a bc def", 4), (Lines{"a bc", "def"}));
  EXPECT_EQ(wrapped("a  longer word", 3), (Lines{"a", "longer", "word"}));
  EXPECT_EQ(wrapped("", 10), Lines{});
}

}  // namespace
}  // namespace quadrille::text
