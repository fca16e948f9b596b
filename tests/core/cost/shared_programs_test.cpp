#include "cost/shared_programs.hpp"

#include <gtest/gtest.h>

#include "algorithms/catalogue.hpp"

namespace quadrille::cost {
namespace {

SharedPrograms programs_of(const Algorithm& algorithm, const Problem& problem) {
  return {problem.ranks, [&](Rank rank) { return build(algorithm, problem_of(algorithm.collective, problem, rank)); }};
}

std::size_t different(Collective collective, std::string_view name, Rank ranks) {
  const Problem problem{.ranks = ranks, .count = 100};
  SharedPrograms programs = programs_of(*find_algorithm(collective, name), problem);
  for (Rank rank = 0; rank < ranks; ++rank) programs.of(rank);
  return programs.size();
}

TEST(SharedPrograms, AreOneWhereAllRanksDoTheSame) {
  for (const Rank ranks : {2, 7, 16, 33}) {
    EXPECT_EQ(different(Collective::alltoall, "pairwise", ranks), 1) << ranks;
    EXPECT_EQ(different(Collective::allgather, "ring", ranks), 1) << ranks;
    EXPECT_EQ(different(Collective::barrier, "dissemination", ranks), 1) << ranks;
  }
  EXPECT_EQ(different(Collective::barrier, "recursive_doubling", 16), 1);
}

// The root, and ranks with 0 to 5 levels of a tree below them.
TEST(SharedPrograms, AreThoseOfDepthsInATree) {
  EXPECT_EQ(different(Collective::bcast, "binomial", 64), 7);
}

TEST(SharedPrograms, NameThePeersAndLengthsOfEverySchedule) {
  for (const Rank ranks : {1, 4, 12, 16}) {
    const Topology topology = Topology::nodes(ranks, 4);
    const Problem problem{.ranks = ranks, .count = 100, .segment = 16, .topology = &topology, .room = 4096};
    for (const Algorithm* algorithm : catalogue()) {
      SCOPED_TRACE(std::string(name(algorithm->collective)) + " " + std::string(algorithm->name));
      if (!refusal(*algorithm, problem).empty()) continue;
      SharedPrograms programs = programs_of(*algorithm, problem);
      for (Rank rank = 0; rank < ranks; ++rank) {
        const Schedule own = build(*algorithm, problem_of(algorithm->collective, problem, rank));
        const std::shared_ptr<const Program> program = programs.of(rank);
        const Schedule& shared = program->schedule();
        ASSERT_EQ(own.operations.size(), shared.operations.size());
        EXPECT_EQ(own.dependencies, shared.dependencies);
        EXPECT_EQ(own.scratch, shared.scratch);
        const auto peer = [&](Rank number) { return number == self ? self : programs.peer(rank, number); };
        for (std::size_t i = 0; i < own.operations.size(); ++i) {
          EXPECT_EQ(own.operations[i].kind, shared.operations[i].kind);
          EXPECT_EQ(own.operations[i].peer, peer(shared.operations[i].peer));
          EXPECT_EQ(own.operations[i].value, shared.operations[i].value);
        }
        for (std::size_t i = 0; i < own.regions.size(); ++i) {
          EXPECT_EQ(own.regions[i].length, shared.regions[i].length);
        }
      }
    }
  }
}

}  // namespace
}  // namespace quadrille::cost
