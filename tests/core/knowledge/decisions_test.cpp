#include "knowledge/decisions.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace quadrille::knowledge {
namespace {

constexpr std::string_view rules = R"(
bcast
  <4    linear 100 chain
  =6    pair
  rest  binary 8 binomial
        1000 scatter 5000 ring
reduce not commutative
  rest  linear
allgather
  <4    ring
  pow2  doubling 8 ring
  rest  bruck
)";

TEST(Decisions, AreByRanksAndBytes) {
  const Decisions decisions(rules);
  const auto bcast = [&](Rank ranks, std::int64_t bytes) {
    return decisions.find(Collective::bcast, true, ranks, bytes);
  };
  EXPECT_EQ(bcast(2, 0), "linear");
  EXPECT_EQ(bcast(3, 99), "linear");
  EXPECT_EQ(bcast(3, 100), "chain");
  EXPECT_EQ(bcast(4, 7), "binary");
  EXPECT_EQ(bcast(6, 7), "pair");
  EXPECT_EQ(bcast(7, 999), "binomial");
  EXPECT_EQ(bcast(7, 1000), "scatter");
  EXPECT_EQ(bcast(1 << 20, 1 << 20), "ring");
}

TEST(Decisions, PowersOfTwoMayHaveTheirOwn) {
  const Decisions decisions(rules);
  const auto allgather = [&](Rank ranks, std::int64_t bytes) {
    return decisions.find(Collective::allgather, true, ranks, bytes);
  };
  EXPECT_EQ(allgather(2, 0), "ring");
  EXPECT_EQ(allgather(4, 7), "doubling");
  EXPECT_EQ(allgather(64, 8), "ring");
  EXPECT_EQ(allgather(63, 8), "bruck");
  EXPECT_EQ(allgather(5, 0), "bruck");
}

TEST(Decisions, OperationsThatDontCommuteHaveTheirOwn) {
  const Decisions decisions(rules);
  EXPECT_EQ(decisions.find(Collective::reduce, false, 4, 8), "linear");
  EXPECT_EQ(decisions.find(Collective::reduce, true, 4, 8), "");
  EXPECT_EQ(decisions.find(Collective::scan, true, 4, 8), "");
}

TEST(Decisions, ATextThatCannotBeReadIsRefused) {
  for (const std::string_view text :
       {"  rest linear", "nothing\n  rest linear", "bcast\n  rest linear 8", "bcast\n  rest linear 8 ring 4 chain",
        "bcast\n  >4 linear", "bcast\n  <x linear", "bcast\n  rest linear 8x ring", "bcast\n  rest"}) {
    EXPECT_THROW(const Decisions decisions(text), std::logic_error) << text;
  }
}

}  // namespace
}  // namespace quadrille::knowledge
