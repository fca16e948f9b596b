// The examples of docs/how-to/add-an-algorithm.md, whose code and messages a test compares with these, and the other
// words that the verifier has for a wrong result.

#include <gtest/gtest.h>

#include <string>

#include "algorithms/accumulator.hpp"
#include "algorithms/collective.hpp"
#include "patterns/ring.hpp"
#include "patterns/swing.hpp"
#include "verify/proof.hpp"

namespace quadrille::verify {
namespace {

using Draft = void (*)(Builder&, const Problem&);

std::string fault_of_draft(Collective collective, Draft draft, Rank ranks, bool commutative = true, Rank root = 0) {
  Problem problem;
  problem.ranks = ranks;
  problem.root = root;
  problem.count = 8;
  problem.commutative = commutative;
  const Build build = [&](const Problem& own) {
    Builder builder(own.rank, own.ranks, unit_of(collective));
    draft(builder, own);
    return builder.finish();
  };
  return prove(subject_of(collective, build, problem, {}, 2 * problem.count)).fault;
}

void ternary_bcast(Builder& builder, const Problem& problem) {
  const Rank place = (problem.rank - problem.root + problem.ranks) % problem.ranks;  // counted from the root
  const auto rank_at = [&](Rank at) { return (at + problem.root) % problem.ranks; };
  if (place > 0) builder.receive(rank_at((place - 1) / 3), problem.output);
  for (Rank child = 3 * place + 1; child <= 3 * place + 3 && child < problem.ranks; ++child) {
    builder.send(rank_at(child), problem.output);
  }
}

TEST(HowTo, ATernaryTreeIsProved) {
  for (const Rank ranks : {1, 2, 3, 4, 5, 13, 14, 33}) {
    for (const Rank root : {0, ranks - 1}) {
      EXPECT_EQ(fault_of_draft(Collective::bcast, ternary_bcast, ranks, true, root), "") << ranks;
    }
  }
}

void swing_of_all_data(Builder& builder, const Problem& problem) {
  const patterns::Swing swing(patterns::floor_log2(problem.ranks));
  const Range all{0, problem.count};
  Accumulator result(builder, problem);
  for (int step = 0; step < swing.steps(); ++step) {
    const Rank peer = swing.peer(problem.rank, step);
    builder.send(peer, result.value(all));
    builder.receive(peer, result.incoming(all));
    result.combine_alike(all, peer);
  }
  result.deliver(all);
}

TEST(HowTo, AFirstAttemptAtSwingIsToldWhatIsWrong) {
  EXPECT_EQ(fault_of_draft(Collective::allreduce, swing_of_all_data, 8),
            R"(rank 1: wrong output in output block 0, units 0 to 7:
    has ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    rank 0 has ((r0 + r1) + (r6 + r7)) + ((r2 + r3) + (r4 + r5))
    all ranks must combine the operands in the same order and with the same brackets, since others may have other last bits)");
}

void contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

// Allreduces on 2 ranks, by hand.
template <bool twice, bool swapped>
void exchange(Builder& builder, const Problem& problem) {
  const Rank peer = 1 - problem.rank;
  const Region other = builder.scratch(problem.count);
  builder.send(peer, problem.input);
  builder.receive(peer, other);
  const bool left = (problem.rank == 0) != swapped;
  builder.reduce(left ? problem.input : other, left ? other : problem.input, problem.output);
  if (twice) builder.reduce(other, problem.output, problem.output);
}

void keep_own(Builder& builder, const Problem& problem) {
  builder.copy(problem.input, problem.output);
}

TEST(Explanation, OfAReductionSaysWhichOperandsAreWrong) {
  const auto fault = [](Draft draft, bool commutative) {
    return fault_of_draft(Collective::allreduce, draft, 2, commutative);
  };
  EXPECT_EQ(fault(exchange<false, false>, false), "");
  const std::string missing = fault(keep_own, true);
  contains(missing,
           "rank 0: wrong output in output block 0, units 0 to 7:\n    has r0\n    expected r0 to r1, each once");
  contains(missing, "the data of rank 1 is missing");
  contains(fault(exchange<true, false>, true), "the data of rank 1 is combined more than once");
  const std::string swapped = fault(exchange<false, true>, false);
  contains(swapped, "has r1 + r0\n    expected r0 to r1, each once, in rank order");
  contains(swapped, "not in rank order, and the operation does not commute");
  EXPECT_EQ(fault(exchange<false, true>, true), "");
}

// The halves of the data change places on the way.
void cross_over(Builder& builder, const Problem& problem) {
  const Region front = problem.output.part({0, problem.count / 2});
  const Region back = problem.output.part({problem.count / 2, problem.count});
  if (problem.rank == 0) {
    builder.send(1, front);
    builder.send(1, back);
  } else {
    builder.receive(0, back);
    builder.receive(0, front);
  }
}

TEST(Explanation, OfMovedDataSaysWhereItComesFromAndWhereItShould) {
  contains(fault_of_draft(Collective::bcast, cross_over, 2),
           "rank 1: wrong output in output block 0, units 0 to 3:\n    has block 0 of rank 0 from unit 4 on\n"
           "    expected block 0 of rank 0 from unit 0 on");
}

TEST(Explanation, OfALongExpressionIsCutOff) {
  const auto chain = [](Builder& builder, const Problem& problem) {
    const Region other = builder.scratch(problem.count);
    for (int i = 0; i < 100; ++i) {
      if (problem.rank == 0) builder.send(1, problem.input);
      if (problem.rank == 1) {
        builder.receive(0, other);
        builder.reduce(other, i == 0 ? problem.input : problem.output, problem.output);
      }
    }
    if (problem.rank == 0) builder.copy(problem.input, problem.output);
  };
  const auto of_rank_1 = [&](Builder& builder, const Problem& problem) { chain(builder, problem); };
  Problem problem;
  problem.ranks = 2;
  problem.count = 8;
  const Build build = [&](const Problem& own) {
    Builder builder(own.rank, own.ranks, Unit::elements);
    of_rank_1(builder, own);
    return builder.finish();
  };
  const std::string fault = prove(subject_of(Collective::scan, build, problem, {}, 8)).fault;
  contains(fault, "...");
  contains(fault, "the data of rank 0 is combined more than once");
  EXPECT_LT(fault.size(), 1000U);
}

}  // namespace
}  // namespace quadrille::verify
