#include "verify/proof.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "verify/matrix.hpp"

namespace quadrille::verify {
namespace {

class Catalogue : public testing::TestWithParam<const Algorithm*> {
 protected:
  static void prove(std::initializer_list<Rank> numbers) {
    for (const Rank ranks : numbers) {
      for (const Case& one : cases(*GetParam(), ranks)) EXPECT_EQ(check(one), "") << describe(one);
    }
  }
};

TEST_P(Catalogue, IsCorrectAndAsPredictedOnFewRanks) {
  prove({1, 2, 3, 4, 5, 7, 8});
}

TEST_P(Catalogue, IsCorrectAndAsPredictedOn11Ranks) {
  prove({11});
}

TEST_P(Catalogue, IsCorrectAndAsPredictedOn16Ranks) {
  prove({16});
}

TEST_P(Catalogue, IsCorrectAndAsPredictedOn33Ranks) {
  prove({33});
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Catalogue, testing::ValuesIn(catalogue().begin(), catalogue().end()),
                         [](const auto& one) {
                           return std::string(name(one.param->collective)) + "_" + std::string(one.param->name);
                         });

// A bcast on two or more ranks, root 0, by hand.
using Write = std::function<void(Builder&, const Problem&)>;

std::string fault_of(const Write& write, Rank ranks = 2, std::int64_t count = 8) {
  Problem problem;
  problem.ranks = ranks;
  problem.count = count;
  const Build build = [&](const Problem& own) {
    Builder builder(own.rank, own.ranks, Unit::bytes);
    write(builder, own);
    return builder.finish();
  };
  return prove(subject_of(Collective::bcast, build, problem, {}, 0)).fault;
}

bool says(const std::string& fault, std::string_view words) {
  return fault.find(words) != std::string::npos;
}

TEST(Proof, AcceptsACorrectBcast) {
  EXPECT_EQ(fault_of([](Builder& builder, const Problem& problem) {
              if (problem.rank == 0) builder.send(1, problem.output);
              if (problem.rank == 1) builder.receive(0, problem.output);
            }),
            "");
}

TEST(Proof, FindsTheDeadlockOfSendsThatWaitForEachOther) {
  // Both send first and receive after the send completes: works only with buffered sends.
  const std::string fault = fault_of([](Builder& builder, const Problem& problem) {
    builder.in_order([&] {
      builder.send_signal(1 - problem.rank);
      builder.receive_signal(1 - problem.rank);
    });
    if (problem.rank == 0) builder.send(1, problem.output);
    if (problem.rank == 1) builder.receive(0, problem.output);
  });
  EXPECT_TRUE(says(fault, "deadlock")) << fault;
}

TEST(Proof, FindsTheDeadlockOfAFewMessagesInFlight) {
  // With every message posted at once this works. With one in flight, 0 sends to 1 first and 2 receives from 0 last...
  const std::string fault = fault_of(
      [](Builder& builder, const Problem& problem) {
        const Rank first = (problem.rank + 1) % 3;
        const Rank second = (problem.rank + 2) % 3;
        builder.send_signal(first);
        builder.send_signal(second);
        builder.receive_signal(first);
        builder.receive_signal(second);
        if (problem.rank == 0) {
          builder.send(1, problem.output);
          builder.send(2, problem.output);
        } else {
          builder.receive(0, problem.output);
        }
      },
      3);
  EXPECT_TRUE(says(fault, "deadlock")) << fault;
}

TEST(Proof, FindsReadsOfUnwrittenData) {
  EXPECT_TRUE(says(fault_of([](Builder& builder, const Problem& problem) {
                     if (problem.rank == 1) builder.send(0, problem.output);
                     if (problem.rank == 0) builder.receive(1, problem.output);
                   }),
                   "reads data that was never written"));
}

TEST(Proof, FindsUnequalLengthsAndMissingEnds) {
  EXPECT_TRUE(says(fault_of([](Builder& builder, const Problem& problem) {
                     if (problem.rank == 0) builder.send(1, problem.output);
                     if (problem.rank == 1) builder.receive(0, problem.output.part(0, 7));
                   }),
                   "8 units sent, 7 received"));
  EXPECT_TRUE(says(fault_of([](Builder& builder, const Problem& problem) {
                     if (problem.rank == 1) builder.receive(0, problem.output);
                   }),
                   "deadlock"));
}

TEST(Proof, FindsAccessesOutsideABlock) {
  EXPECT_TRUE(says(fault_of([](Builder& builder, const Problem& problem) {
                     if (problem.rank == 0) builder.send(1, problem.output.part(1, 8));
                     if (problem.rank == 1) builder.receive(0, problem.output);
                   }),
                   "outside its block"));
}

TEST(Proof, FindsMoreScratchThanDeclared) {
  EXPECT_TRUE(says(fault_of([](Builder& builder, const Problem&) { builder.scratch(1); }), "more than the 0 declared"));
}

TEST(Proof, FindsNondeterministicMatching) {
  Problem problem;
  problem.ranks = 2;
  problem.count = 8;
  const Build build = [](const Problem& own) {
    Builder builder(own.rank, own.ranks, Unit::bytes);
    for (std::int64_t half : {0, 4}) {
      if (own.rank == 0) builder.send(1, own.output.part(half, 4));
      if (own.rank == 1) builder.receive(0, own.output.part(half, 4));
    }
    Schedule schedule = builder.finish();
    for (Operation& operation : schedule.operations) operation.dependencies = 0;
    return schedule;
  };
  EXPECT_TRUE(says(prove(subject_of(Collective::bcast, build, problem, {}, 0)).fault, "nondeterministic"));
}

TEST(Proof, AReductionMustBeInRankOrderUnlessItIsCommutative) {
  for (bool commutative : {true, false}) {
    Problem problem;
    problem.ranks = 2;
    problem.count = 3;
    problem.commutative = commutative;
    // Rank 1 combines for both, in the wrong order.
    const Build build = [](const Problem& own) {
      Builder builder(own.rank, own.ranks, Unit::elements);
      if (own.rank == 0) {
        builder.send(1, own.input);
        builder.receive(1, own.output);
      } else {
        builder.receive(0, own.output);
        builder.reduce(own.input, own.output, own.output);
        builder.send(0, own.output);
      }
      return builder.finish();
    };
    EXPECT_EQ(prove(subject_of(Collective::allreduce, build, problem, {}, 0)).proved(), commutative);
  }
}

// Also for a commutative operation: a op b need not equal b op a bitwise.
TEST(Proof, AReductionMustHaveTheSameOrderOnEveryRank) {
  for (bool commutative : {true, false}) {
    Problem problem;
    problem.ranks = 2;
    problem.count = 3;
    problem.commutative = commutative;
    const Build build = [](const Problem& own) {
      Builder builder(own.rank, own.ranks, Unit::elements);
      builder.send(1 - own.rank, own.input);
      builder.receive(1 - own.rank, own.output);
      builder.reduce(own.input, own.output, own.output);  // in the wrong order on rank 1
      return builder.finish();
    };
    EXPECT_FALSE(prove(subject_of(Collective::allreduce, build, problem, {}, 0)).proved());
  }
}

TEST(Proof, AReductionMustBeTheSameExpressionOnEveryRank) {
  // (0 + 1) + 2 on ranks 0 and 1, 0 + (1 + 2) on rank 2: equal only where rounding is.
  Problem problem;
  problem.ranks = 3;
  problem.count = 1;
  const Build build = [](const Problem& own) {
    Builder builder(own.rank, own.ranks, Unit::elements);
    const Rank a = own.rank == 0 ? 1 : 0;
    Region of_a = builder.scratch(1);
    Region of_b = builder.scratch(1);
    for (Rank distance : {1, 2}) {
      builder.send((own.rank + distance) % 3, own.input);
      const Rank from = (own.rank + 3 - distance) % 3;
      builder.receive(from, from == a ? of_a : of_b);
    }
    if (own.rank == 2) {
      builder.reduce(of_b, own.input, own.output);
      builder.reduce(of_a, own.output, own.output);
    } else {
      builder.reduce(own.rank == 0 ? own.input : of_a, own.rank == 0 ? of_a : own.input, own.output);
      builder.reduce(own.output, of_b, of_b);
      builder.copy(of_b, own.output);
    }
    return builder.finish();
  };
  EXPECT_TRUE(says(prove(subject_of(Collective::allreduce, build, problem, {}, 2)).fault, "wrong output"));
}

TEST(Proof, AWrittenInputIsFound) {
  Problem problem;
  problem.ranks = 1;
  problem.count = 3;
  const Build build = [](const Problem& own) {
    Builder builder(own.rank, own.ranks, Unit::elements);
    builder.copy(own.input, own.output);
    builder.copy(own.output, own.input);
    return builder.finish();
  };
  EXPECT_TRUE(says(prove(subject_of(Collective::allreduce, build, problem, {}, 0)).fault, "the caller's input"));
}

// A barrier by hand.
std::string barrier_fault(Rank ranks, const Write& write) {
  Problem problem;
  problem.ranks = ranks;
  const Build build = [&](const Problem& own) {
    Builder builder(own.rank, own.ranks, Unit::bytes);
    write(builder, own);
    return builder.finish();
  };
  return prove(subject_of(Collective::barrier, build, problem, {}, 0)).fault;
}

TEST(Proof, ABarrierMustWaitForEveryRank) {
  EXPECT_TRUE(says(barrier_fault(4, [](Builder&, const Problem&) {}), "before every rank has begun"));
  // Dissemination on 5 ranks takes 3 rounds; with 2, each rank has heard from only 4.
  const auto rounds = [](int count) {
    return [count](Builder& builder, const Problem& problem) {
      for (int round = 0; round < count; ++round) {
        const Rank distance = 1 << round;
        builder.send_signal((problem.rank + distance) % 5);
        builder.receive_signal((problem.rank + 5 - distance) % 5);
        builder.fence();
      }
    };
  };
  EXPECT_EQ(barrier_fault(5, rounds(3)), "");
  EXPECT_TRUE(says(barrier_fault(5, rounds(2)), "before every rank has begun"));
}

TEST(Proof, OperandsMustNotOverlapInAnyIteration) {
  const std::string fault = fault_of([](Builder& builder, const Problem& problem) {
    if (problem.rank == 0) builder.send(1, problem.output);
    if (problem.rank == 1) builder.receive(0, problem.output);
    // The target moves onto the source in the second iteration.
    builder.for_each_segment(
        4, 2, 1, [&](const Segment& segment) { builder.copy(problem.output.part(2, 2), segment.of(problem.output)); });
  });
  EXPECT_TRUE(says(fault, "operands overlap")) << fault;
  EXPECT_TRUE(says(fault_of([](Builder& builder, const Problem& problem) {
                     const std::vector<Region> twice = {problem.output.part(0, 4), problem.output.part(0, 4)};
                     if (problem.rank == 0) builder.send(1, problem.output);
                     if (problem.rank == 1) builder.receive(0, twice);
                   }),
                   "overlap"));
}

TEST(Proof, OperandsOfUnequalLengthAreFoundAtBindingTime) {
  Problem problem;
  problem.ranks = 2;
  const BlockSizes sizes = [](Rank from, Rank to) { return std::int64_t{1 + from + 2 * to}; };
  const Build build = [](const Problem& own) {
    Builder builder(own.rank, own.ranks, Unit::bytes);
    builder.copy(own.input_block(1 - own.rank), own.output_block(own.rank));
    return builder.finish();
  };
  EXPECT_TRUE(says(prove(subject_of(Collective::alltoallv, build, problem, sizes, 0)).fault, "differ in length"));
}

TEST(Proof, SchedulesMustAgreeOnWhatTheyDeclare) {
  Problem problem;
  problem.ranks = 2;
  const auto subject = [&] { return subject_of(*find_algorithm(Collective::bcast, "linear"), problem); };
  const auto fault = [&](auto&& damage) {
    Subject damaged = subject();
    damage(damaged.schedules[1]);
    return prove(damaged).fault;
  };
  EXPECT_EQ(prove(subject()).fault, "");
  EXPECT_NE(fault([](Schedule& s) { s.slots.push_back(8); }), "");
  EXPECT_NE(fault([](Schedule& s) { s.counters = 1; }), "");
  EXPECT_NE(fault([](Schedule& s) { s.channels = 2; }), "");
  EXPECT_NE(fault([](Schedule& s) { s.unit = Unit::elements; }), "");
  EXPECT_NE(fault([](Schedule& s) { s.rank = 0; }), "");
  EXPECT_NE(fault([](Schedule& s) { s.ranks = 3; }), "");
}

TEST(Proof, CommutativeAndNonCommutativeReductionsAreNotMixedInARow) {
  Problem problem;
  problem.ranks = 2;
  problem.count = 1;
  const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "recursive_doubling");
  const Subject commutative = subject_of(algorithm, problem);
  problem.commutative = false;
  EXPECT_THROW(in_a_row({commutative, subject_of(algorithm, problem)}), std::invalid_argument);
}

// Operations around a loop must stay ordered even if the loop is empty.
TEST(Proof, AnEmptyChunkLoopPreservesTheOrderAroundIt) {
  Problem problem;
  problem.ranks = 2;
  const BlockSizes sizes = [](Rank from, Rank to) { return std::int64_t{from == to ? 4 : 0}; };
  const Build build = [](const Problem& own) {
    Builder builder(own.rank, own.ranks, Unit::bytes);
    const Rank peer = 1 - own.rank;
    const Region mine = own.output_block(own.rank);
    builder.copy(own.input_block(own.rank), mine);
    const auto exchange = [&](Region region, bool sends) {
      if (sends) builder.send(peer, region);
      if (!sends) builder.receive(peer, region);
    };
    const Region scratch = builder.scratch(4);
    exchange(own.rank == 0 ? own.input_block(0) : scratch, own.rank == 0);
    builder.for_each_chunk(own.rank == 0 ? own.input_block(1) : own.output_block(0), 2, 2, [&](const Segment& chunk) {
      exchange(chunk.of(own.rank == 0 ? own.input_block(1) : own.output_block(0)), own.rank == 0);
    });
    const Region other = builder.scratch(4);
    exchange(own.rank == 0 ? own.input_block(0) : other, own.rank == 0);
    return builder.finish();
  };
  EXPECT_EQ(prove(subject_of(Collective::alltoallv, build, problem, sizes, 8)).fault, "");
}

TEST(Proof, AlgorithmsWithFencesCanBeALevelOfAPipeline) {
  // In each iteration a barrier, then a segment of a bcast.
  const Algorithm& barrier = *find_algorithm(Collective::barrier, "dissemination");
  const Algorithm& binomial = *find_algorithm(Collective::bcast, "binomial");
  const std::string fault = fault_of(
      [&](Builder& builder, const Problem& problem) {
        builder.for_each_segment(problem.count, 3, 2, [&](const Segment& segment) {
          barrier.build(builder, problem);
          Problem piece = problem;
          piece.output = segment.of(problem.output);
          binomial.build(builder, piece);
        });
      },
      5, 14);
  EXPECT_EQ(fault, "");
}

}  // namespace
}  // namespace quadrille::verify
