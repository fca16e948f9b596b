#include "formulas/formula.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace quadrille::test {
namespace {

const Given given{.values = {{"p", 6}, {"n", 10}, {"k", 3}, {"m", 4}, {"a", 1}, {"b", 100}},
                  .conditions = {{"p is odd", false}, {"p > 2", true}}};

double value(std::string_view formula) {
  return evaluate(formula, given).value;
}

TEST(Formula, IsReadAsPeopleReadIt) {
  EXPECT_EQ(value("p - 1"), 5);
  EXPECT_EQ(value("2p - 3 + m"), 13);
  EXPECT_EQ(value("2(p - 1) m"), 40);
  EXPECT_EQ(value("p/2 a"), 3);
  EXPECT_EQ(value("(p - 1)/p n b"), 5.0 / 6 * 1000);
  EXPECT_EQ(value("ceil(log2 p)(a + n b)"), 3 * 1001);
  EXPECT_EQ(value("floor(2 log2(p + 1)) - 2"), 3);
  EXPECT_EQ(value("(k - 1) ceil(log_k p)"), 4);
  EXPECT_NEAR(value("log2 p a"), 2.585, 0.001);
}

TEST(Formula, RoundsNoPowerUp) {
  for (int k = 2; k <= 9; ++k) {
    Given of = given;
    of.values["k"] = k;
    of.values["p"] = k * k * k;
    EXPECT_EQ(evaluate("ceil(log_k p)", of).value, 3);
    EXPECT_EQ(evaluate("floor(log_k p)", of).value, 3);
  }
}

TEST(Formula, HasConditions) {
  EXPECT_EQ(value("p, + 1 if p > 2"), 7);
  EXPECT_EQ(value("p, + 1 if p is odd, + m unless p is odd"), 10);
  EXPECT_TRUE(evaluate("p, for p > 2", given).applies);
  EXPECT_FALSE(evaluate("p, + 1 if p > 2, for p is odd", given).applies);
  EXPECT_TRUE(evaluate("at most p", given).at_most);
  EXPECT_FALSE(evaluate("p", given).at_most);
}

TEST(Formula, MayDifferInPlace) {
  constexpr std::string_view formula = "p; in place at most p (m + 2), + 1 if p > 2";
  EXPECT_EQ(value(formula), 6);
  Given in_place = given;
  in_place.in_place = true;
  EXPECT_EQ(evaluate(formula, in_place).value, 37);
  EXPECT_TRUE(evaluate(formula, in_place).at_most);
  EXPECT_EQ(evaluate("p", in_place).value, 6);
}

TEST(Formula, OfAnotherKindIsRefused) {
  for (const char* wrong : {"", "by levels", "p -", "about p", "(p", "p)", "p, 2", "p, + 1", "p, + 1 if it rains",
                            "p if p > 2", "p ... 1", "q", "p; n", "p, for p > 2, + 1"}) {
    EXPECT_THROW(evaluate(wrong, given), std::invalid_argument) << wrong;
  }
}

}  // namespace
}  // namespace quadrille::test
