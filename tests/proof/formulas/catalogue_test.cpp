// The formulas of the catalogue against its schedules.

#include "algorithms/catalogue.hpp"

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "formulas/critical_path.hpp"
#include "formulas/formula.hpp"
#include "patterns/hypercube.hpp"
#include "topology/topology.hpp"

namespace quadrille::test {
namespace {

// What depends on the machine has words instead of formulas.
const std::set<std::string_view> words = {
    "by levels",   // of nodes and racks, and by the algorithm that their leaders choose
    "by the MPI",  // which runs the leaders' part
    "by pieces"    // as large as the slots in shared memory
};

bool has_formulas(const Algorithm& algorithm) {
  return words.count(algorithm.steps) == 0;
}

// The machine of those that ask for nodes.
constexpr Rank on_a_node = 4;

std::shared_ptr<const Topology> machine_of(const Algorithm& algorithm, Rank ranks) {
  if (!algorithm.hierarchical) return nullptr;
  std::vector<std::int32_t> nodes;
  for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back(rank / on_a_node);
  return std::make_shared<const Topology>(ranks, std::vector<std::vector<std::int32_t>>{nodes});
}

struct Case {
  const Algorithm* algorithm;
  Problem problem;
  std::shared_ptr<const Topology> machine;  // referenced by the problem

  std::string described() const {
    return fmt::format("{} {}: p {}, root {}, n {}, segments of {}, width {}{}{}{}{}", name(algorithm->collective),
                       algorithm->name, problem.ranks, problem.root, problem.count, problem.segment, problem.width,
                       problem.in_place ? ", in place" : "", problem.commutative ? "" : ", not commutative",
                       problem.fixed_order ? ", in rank order" : "", problem.staging > 0 ? ", with staging" : "");
  }
};

// Cases of so many ranks in which all shares are equal, and so are all segments.
std::vector<Case> cases(const Algorithm& algorithm, Rank ranks) {
  const Traits of = traits(algorithm.collective);
  const std::shared_ptr<const Topology> machine = machine_of(algorithm, ranks);
  std::vector<Case> all;
  for (unsigned bits = 0; bits < 64; ++bits) {
    const auto bit = [bits](unsigned which) { return (bits >> which & 1U) != 0; };
    // With several partners at a time, the steps of swaps depend on who waits for whom.
    const bool meaningless = ((bit(1) || bit(2)) && !of.reduces) || (bit(2) && !bit(1)) ||
                             (bit(3) && !algorithm.segmented) || (bit(4) && algorithm.swaps) ||
                             (bit(5) && !algorithm.restrictions.exposed);
    for (const Rank root : std::set<Rank>{0, 1, ranks / 2, ranks - 1}) {
      Problem problem{.ranks = ranks, .root = root};
      problem.count = !of.moves_data() ? 0 : of.in_blocks() ? 12 : 12 * ranks;
      problem.in_place = bit(0);
      problem.commutative = !bit(1);
      problem.fixed_order = bit(2);
      problem.segment = bit(3) ? 3 : 0;
      problem.width = bit(4) ? 3 : 0;
      problem.topology = machine.get();
      problem.exposed = algorithm.restrictions.exposed;
      problem.staging = bit(5) ? problem.count : 0;
      if (meaningless || (root != 0 && !of.rooted) || !refusal(algorithm, problem).empty()) continue;
      all.push_back({&algorithm, problem, machine});
    }
  }
  return all;
}

Given given_by(const Algorithm& algorithm, const Problem& problem) {
  const Rank p = problem.ranks;
  const auto n = static_cast<double>(problem.count);
  const bool cut = algorithm.segmented && problem.segment > 0;
  const bool power_of_two = (p & (p - 1)) == 0;
  const bool pairs_of_nodes = p % (2 * on_a_node) == 0;
  return {.values = {{"p", p},
                     {"n", n},
                     {"m", cut ? std::ceil(n / static_cast<double>(problem.segment)) : 1},
                     {"k", problem.width != 0 ? problem.width : algorithm.width}},
          .conditions = {{"p is a power of two", power_of_two},
                         {"a power of two", power_of_two},
                         {"p is odd", p % 2 == 1},
                         {"p > 2", p > 2},
                         {"not commutative and the root is not rank 0", !problem.commutative && problem.root != 0},
                         {"not commutative and the root is not the last rank",
                          !problem.commutative && problem.root != p - 1},
                         {"the root is not the last rank", problem.root != p - 1},
                         {"the root is represented", patterns::Hypercube(p).represented_by(problem.root).has_value()},
                         {"an even number of equal nodes of even size", pairs_of_nodes},
                         {"the same", pairs_of_nodes}},
          .in_place = problem.in_place};
}

void expect(const Evaluated& formula, double found, const std::string& what) {
  if (!formula.applies) return;
  if (formula.at_most) {
    EXPECT_LE(found, formula.value + 1e-6) << what;
  } else {
    EXPECT_NEAR(found, formula.value, 1e-6) << what;
  }
}

// Whether the formula of the steps applied, so that it was compared.
bool compare(const Case& one) {
  const std::int64_t count = one.problem.count;
  const verify::Subject subject =
      verify::subject_of(*one.algorithm, one.problem, [count](Rank, Rank) { return count; });
  verify::Expressions expressions(subject.commutative);
  const verify::Execution run = verify::execute(subject, expressions, verify::Keep::data_too);
  EXPECT_EQ(run.fault, "") << one.described();
  Given given = given_by(*one.algorithm, one.problem);
  const Evaluated steps = evaluate(one.algorithm->steps, given);
  expect(steps, static_cast<double>(run.steps), one.described() + ", steps");
  if (!steps.applies) return false;
  given.values["steps"] = steps.value;
  for (const std::string letter : {"a", "b", "c"}) {
    for (const char* each : {"a", "b", "c"}) given.values[each] = each == letter ? 1 : 0;
    Evaluated cost = evaluate(one.algorithm->cost, given);
    cost.at_most |= steps.at_most;
    const Times times{given.values["a"], given.values["b"], given.values["c"]};
    expect(cost, CriticalPath(run, times).length(), one.described() + ", cost in " + letter);
  }
  return true;
}

TEST(Catalogue, HasFormulasUnlessTheMachineDecides) {
  for (const Algorithm* algorithm : catalogue()) {
    if (has_formulas(*algorithm)) continue;
    EXPECT_EQ(algorithm->predict, nullptr) << name(algorithm->collective) << ' ' << algorithm->name;
    EXPECT_EQ(algorithm->cost, algorithm->steps) << name(algorithm->collective) << ' ' << algorithm->name;
  }
}

TEST(Catalogue, StepsAndCostAreThoseOfTheSchedules) {
  for (const Algorithm* algorithm : catalogue()) {
    if (!has_formulas(*algorithm)) continue;
    int compared = 0;
    for (const Rank ranks : {2, 3, 4, 5, 6, 7, 8, 11, 16, 24, 33}) {
      for (const Case& one : cases(*algorithm, ranks)) compared += compare(one) ? 1 : 0;
    }
    EXPECT_GE(compared, 3) << name(algorithm->collective) << ' ' << algorithm->name;
  }
}

// Predictions are held against schedules for more cases than can be executed here.
TEST(Catalogue, StepsAreThosePredictedForManyRanks) {
  for (const Algorithm* algorithm : catalogue()) {
    if (!algorithm->predict) continue;
    for (Rank ranks = 2; ranks <= 300; ++ranks) {
      for (const Case& one : cases(*algorithm, ranks)) {
        const Prediction predicted = *predict(*algorithm, one.problem);
        if (predicted.steps == Prediction::unknown_steps) continue;
        expect(evaluate(algorithm->steps, given_by(*algorithm, one.problem)), static_cast<double>(predicted.steps),
               one.described());
      }
    }
  }
}

// A schedule with other steps than its formula says is found.
TEST(Catalogue, AWrongFormulaIsFound) {
  const Algorithm& binomial = *find_algorithm(Collective::bcast, "binomial");
  const auto failures = [&](std::string_view steps, std::string_view cost) {
    Algorithm wrong = binomial;
    wrong.steps = steps;
    wrong.cost = cost;
    testing::TestPartResultArray found;
    {
      testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
      compare(cases(wrong, 6).front());
    }
    return found.size();
  };
  EXPECT_EQ(failures(binomial.steps, binomial.cost), 0);
  EXPECT_EQ(failures("p - 1", binomial.cost), 1);
  EXPECT_EQ(failures(binomial.steps, "ceil(log2 p) a + n b"), 1);
  EXPECT_EQ(failures(binomial.steps, "ceil(log2 p)(a + n b + n c)"), 1);
  EXPECT_EQ(failures(binomial.steps, "at most p (a + n b)"), 0);
  EXPECT_EQ(failures("at most 2", "at most ceil(log2 p)(a + n b)"), 1);
}

}  // namespace
}  // namespace quadrille::test
