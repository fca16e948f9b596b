#include "verify/proof.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "algorithms/catalogue.hpp"
#include "verify/matrix.hpp"

namespace quadrille::verify {
namespace {

TEST(Proof, TheCatalogueIsRightAndAsPredicted) {
  for (const Algorithm* algorithm : catalogue()) {
    for (Rank ranks : {1, 2, 3, 4, 5, 7, 8, 11, 16, 33}) {
      for (const Case& one : cases(*algorithm, ranks)) EXPECT_EQ(check(one), "") << describe(one);
    }
  }
}

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

TEST(Proof, AcceptsARightBcast) {
  EXPECT_EQ(fault_of([](Builder& builder, const Problem& problem) {
              if (problem.rank == 0) builder.send(1, problem.output);
              if (problem.rank == 1) builder.receive(0, problem.output);
            }),
            "");
}

TEST(Proof, FindsTheDeadlockOfSendsThatWaitForEachOther) {
  // Both send first and receive when the send is done: works only as long as the MPI buffers.
  const std::string fault = fault_of([](Builder& builder, const Problem& problem) {
    builder.in_order([&] {
      builder.send_signal(1 - problem.rank);
      builder.receive_signal(1 - problem.rank);
    });
    if (problem.rank == 0) builder.send(1, problem.output);
    if (problem.rank == 1) builder.receive(0, problem.output);
  });
  EXPECT_TRUE(says(fault, "no rank can go on")) << fault;
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
  EXPECT_TRUE(says(fault, "no rank can go on")) << fault;
}

TEST(Proof, FindsDataThatNobodyWrote) {
  const std::string fault = fault_of(
      [](Builder& builder, const Problem& problem) {
        if (problem.rank == 0) builder.send(1, problem.output);
        if (problem.rank == 1) builder.receive(0, problem.output.part(0, 8));
        if (problem.rank == 1) builder.send(2, problem.output);
        if (problem.rank == 2) builder.receive(1, problem.output);
      },
      3);
  EXPECT_EQ(fault, "");
  EXPECT_TRUE(says(fault_of([](Builder& builder, const Problem& problem) {
                     if (problem.rank == 1) builder.send(0, problem.output);
                     if (problem.rank == 0) builder.receive(1, problem.output);
                   }),
                   "reads what nobody wrote"));
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
                   "no rank can go on"));
}

TEST(Proof, FindsWhatReachesOutsideItsBlock) {
  EXPECT_TRUE(says(fault_of([](Builder& builder, const Problem& problem) {
                     if (problem.rank == 0) builder.send(1, problem.output.part(1, 8));
                     if (problem.rank == 1) builder.receive(0, problem.output);
                   }),
                   "outside its block"));
}

TEST(Proof, FindsMoreScratchThanDeclared) {
  EXPECT_TRUE(says(fault_of([](Builder& builder, const Problem&) { builder.scratch(1); }), "more than the 0 declared"));
}

TEST(Proof, FindsAnOrderLeftToLuck) {
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
  EXPECT_TRUE(says(prove(subject_of(Collective::bcast, build, problem, {}, 0)).fault, "left to luck"));
}

TEST(Proof, AReductionMustBeInRankOrderUnlessItIsCommutative) {
  for (bool commutative : {true, false}) {
    Problem problem;
    problem.ranks = 2;
    problem.count = 3;
    problem.commutative = commutative;
    const Build build = [](const Problem& own) {
      Builder builder(own.rank, own.ranks, Unit::elements);
      builder.send(1 - own.rank, own.input);
      builder.receive(1 - own.rank, own.output);
      builder.reduce(own.input, own.output, own.output);  // on rank 1 the wrong way round
      return builder.finish();
    };
    EXPECT_EQ(prove(subject_of(Collective::allreduce, build, problem, {}, 0)).proved(), commutative);
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

}  // namespace
}  // namespace quadrille::verify
