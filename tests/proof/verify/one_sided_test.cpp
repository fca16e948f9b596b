#include <gtest/gtest.h>

#include <functional>

#include "algorithms/catalogue.hpp"
#include "replay/trial.hpp"
#include "topology/topology.hpp"
#include "verify/proof.hpp"

// What goes through windows, beyond what the matrix proves of each algorithm alone.
namespace quadrille {
namespace {

enum class By : std::uint8_t { push, pull, deposit, stage };

Problem problem_by(By by, Rank ranks, Rank root, std::int64_t count = 9) {
  Problem problem{.ranks = ranks, .root = root, .count = count, .segment = 4, .window = 2};
  problem.exposed = true;
  problem.pulls = by == By::pull;
  problem.box = by == By::deposit ? 4 * count : 0;
  problem.staging = by == By::stage ? 16 : 0;
  return problem;
}

const Algorithm& one_sided(std::string_view name) {
  return *find_algorithm(Collective::bcast, name);
}

// A row of broadcasts of the same memory: each root passes on what it had from the one before.
verify::Subject over_and_over(const Algorithm& algorithm, By by, Rank ranks, int rounds, Rank next_root = 1) {
  verify::Subject all = verify::subject_of(algorithm, problem_by(by, ranks, 0));
  for (int round = 1; round < rounds; ++round) {
    const verify::Subject next = verify::subject_of(algorithm, problem_by(by, ranks, round * next_root % ranks));
    for (std::size_t rank = 0; rank < all.schedules.size(); ++rank) {
      all.schedules[rank] = verify::in_a_row(all.schedules[rank], next.schedules[rank], 0);
    }
  }
  return all;
}

TEST(OneSided, MemoryIsUsedAgainByTheNextCollectiveWithAnotherRoot) {
  for (const char* name : {"one_sided_linear", "one_sided_binary", "one_sided_binomial", "one_sided_chain"}) {
    for (By by : {By::push, By::pull, By::deposit}) {
      for (Rank ranks : {2, 3, 4, 7}) {
        const auto verdict = verify::prove(over_and_over(one_sided(name), by, ranks, 4));
        EXPECT_EQ(verdict.fault, "") << name << " on " << ranks << ", by " << static_cast<int>(by);
      }
    }
  }
}

// The slots of a node are kept apart by lanes, which are proved by themselves; here the ranks of a node send messages.
TEST(OneSided, LeadersOfNodesUseTheirMemoryAgain) {
  for (By by : {By::push, By::pull, By::deposit}) {
    for (Rank ranks : {3, 6, 8}) {
      std::vector<std::int32_t> nodes;
      for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back(rank % 3);
      const Topology machine(ranks, {nodes});
      std::vector<verify::Subject> subjects;
      for (Rank round = 0; round < 5; ++round) {
        Problem problem = problem_by(by, ranks, (round * 2 + 1) % ranks);
        problem.topology = &machine;
        subjects.push_back(verify::subject_of(one_sided("one_sided_hierarchical"), problem));
      }
      verify::Subject all = subjects.front();
      for (std::size_t round = 1; round < subjects.size(); ++round) {
        for (std::size_t rank = 0; rank < all.schedules.size(); ++rank) {
          all.schedules[rank] = verify::in_a_row(all.schedules[rank], subjects[round].schedules[rank], 0);
        }
      }
      EXPECT_EQ(verify::prove(all).fault, "") << ranks << " ranks, by " << static_cast<int>(by);
    }
  }
}

TEST(OneSided, AlgorithmsAndWaysToTransferFollowOneAnother) {
  std::vector<verify::Subject> subjects;
  replay::Trial trial{.collective = Collective::bcast, .build = {}, .rounds = {}};
  Rank root = 0;
  for (By by : {By::deposit, By::push, By::deposit, By::pull, By::deposit, By::pull, By::push}) {
    subjects.push_back(verify::subject_of(one_sided("one_sided_binomial"), problem_by(by, 5, root)));
    trial.rounds.push_back(problem_by(by, 5, root));
    root = (root + 2) % 5;
  }
  EXPECT_EQ(verify::prove(verify::in_a_row(subjects)).fault, "");
  trial.build = [](const Problem& own) { return build(one_sided("one_sided_binomial"), own); };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    trial.options.seed = seed;
    trial.types = seed % 2 == 0 ? replay::Types::gaps : replay::Types::contiguous;
    EXPECT_EQ(replay::run(trial), "") << "seed " << seed;
  }
}

// Loses what fits, on one rank, and returns what the proof says.
std::string without(verify::Subject subject, Rank rank, const std::function<bool(const Operation&)>& fits) {
  for (Operation& operation : subject.schedules[static_cast<std::size_t>(rank)].operations) {
    if (!fits(operation)) continue;
    operation.kind = Kind::join;
    operation.peer = self;
    operation.regions = 0;
    operation.value = operation.value_stride = 0;
    return verify::prove(subject).fault;
  }
  return "there is no such operation";
}

bool begins(const std::string& text, std::string_view start) {
  return text.rfind(start, 0) == 0;
}

// One operation no longer depends on another.
std::string apart(verify::Subject subject, Rank rank, Kind later, Kind earlier) {
  Schedule& schedule = subject.schedules[static_cast<std::size_t>(rank)];
  for (Operation& operation : schedule.operations) {
    if (operation.kind != later) continue;
    auto* const first = schedule.dependencies.data() + operation.first_dependency;
    auto* const last = std::remove_if(first, first + operation.dependencies, [&](const Dependency& on) {
      return schedule.operations[static_cast<std::size_t>(on.operation)].kind == earlier;
    });
    if (last == first + operation.dependencies) continue;
    operation.dependencies = static_cast<std::int32_t>(last - first);
    return verify::prove(subject).fault;
  }
  return "there is no such dependency";
}

TEST(OneSided, ANotificationBeforeItsFlushIsARace) {
  const verify::Subject right = verify::subject_of(one_sided("one_sided_chain"), problem_by(By::push, 3, 0));
  EXPECT_TRUE(begins(apart(right, 0, Kind::notify, Kind::flush), "race on output in a window"));
}

TEST(OneSided, APutWithoutAFlushIsNeverComplete) {
  const verify::Subject right = verify::subject_of(one_sided("one_sided_linear"), problem_by(By::push, 3, 0, 3));
  EXPECT_NE(without(right, 0, [](const Operation& o) { return o.kind == Kind::flush; }), "");
}

TEST(OneSided, AGetBeforeItsNotificationReadsWhatIsNotThere) {
  const verify::Subject right = verify::subject_of(one_sided("one_sided_chain"), problem_by(By::pull, 3, 0));
  EXPECT_NE(apart(right, 2, Kind::get, Kind::await), "");
}

TEST(OneSided, WhoDoesNotWaitForAnAcknowledgementOverwritesWhatOthersRead) {
  const verify::Subject right = over_and_over(one_sided("one_sided_linear"), By::pull, 3, 2);
  ASSERT_EQ(verify::prove(right).fault, "");
  // Rank 0 ends without having heard that rank 2 has the data, and gets the next into the same memory.
  const std::string fault =
      without(right, 0, [](const Operation& o) { return o.kind == Kind::await && o.counter == 3 + 2; });
  EXPECT_TRUE(begins(fault, "race on output in a window")) << fault;
}

TEST(OneSided, ALostAcknowledgementIsADeadlock) {
  for (By by : {By::push, By::pull, By::deposit}) {
    const verify::Subject right = verify::subject_of(one_sided("one_sided_binomial"), problem_by(by, 4, 0));
    const std::string fault =
        without(right, 2, [](const Operation& o) { return o.kind == Kind::notify && o.counter == 4 + 2; });
    EXPECT_TRUE(begins(fault, "deadlock")) << fault;
  }
}

TEST(OneSided, MemoryIsNotTouchedBeforeTheNotification) {
  for (By by : {By::push, By::deposit}) {
    // Rank 2 hands its memory over; then the program reads it.
    verify::Subject subject = verify::subject_of(one_sided("one_sided_binomial"), problem_by(by, 4, 0, 3));
    const Problem own = problem_of(Collective::bcast, problem_by(by, 4, 0, 3), 2);
    for (const bool touched : {false, true}) {
      Builder builder(2, 4, Unit::bytes);
      builder.notices(8, 1);
      const Region box = by == By::deposit ? builder.box(3) : Region{};
      const Region copy = builder.scratch(3);
      builder.notify(0, 4 + 2, 1);
      if (touched) builder.copy(own.output, copy);
      const Added there = by == By::deposit ? builder.collect(box, own.output) : builder.await(0, 1);
      builder.fence();
      if (!touched) builder.after(builder.copy(own.output, copy), {there});
      builder.await(4 + 3, 1);
      builder.fence();
      if (by == By::deposit) builder.deposit(3, own.output, box);
      if (by == By::push) builder.put(3, own.output, builder.at(3, own.output));
      if (by == By::push) builder.flush(3);
      builder.fence();
      if (by == By::push) builder.notify(3, 2, 1);
      subject.schedules[2] = builder.finish();
      subject.scratch_limit = 3;
      EXPECT_EQ(verify::prove(subject).fault == "", !touched) << verify::prove(subject).fault;
    }
  }
}

// A child that does not say that its box is empty.
TEST(OneSided, ADepositIsNotOverwrittenByTheNext) {
  const verify::Subject right = over_and_over(one_sided("one_sided_linear"), By::deposit, 3, 2);
  ASSERT_EQ(verify::prove(right).fault, "");
  // Rank 1, the second root, deposits in rank 2's box without having heard of it.
  const std::string fault =
      without(right, 1, [](const Operation& o) { return o.kind == Kind::await && o.counter == 3 + 2; });
  EXPECT_TRUE(begins(fault, "two deposits in one box")) << fault;
}

TEST(OneSided, PlacesInStagingAreUsedAgainInTurnWithAnyRoots) {
  for (Rank ranks : {2, 3, 4, 5, 7, 8, 11, 16, 33}) {
    for (Rank next_root : {0, 1, ranks / 2}) {
      const auto verdict =
          verify::prove(over_and_over(one_sided("one_sided_staged"), By::stage, ranks, 3 * ranks, next_root));
      EXPECT_EQ(verdict.fault, "") << ranks << " ranks, next root " << next_root;
    }
  }
}

// Of several lengths, with other algorithms and ways to transfer in between, which leave staging alone.
TEST(OneSided, StagedBroadcastsAndOthersFollowOneAnother) {
  const auto algorithm_of = [](const Problem& problem) -> const Algorithm& {
    return one_sided(problem.root % 2 == 0 ? "one_sided_staged" : "one_sided_chain");
  };
  std::vector<verify::Subject> subjects;
  replay::Trial trial{.collective = Collective::bcast, .build = {}, .rounds = {}};
  for (int round = 0; round < 16; ++round) {
    const By by = round % 5 == 3 ? By::pull : round % 5 == 4 ? By::deposit : By::stage;
    // The longest is longer than a place.
    const Problem problem = problem_by(by, 5, round * 2 % 3 * 2, 3 + round % 4 * 5);
    subjects.push_back(verify::subject_of(algorithm_of(problem), problem));
    trial.rounds.push_back(problem);
    trial.rounds.push_back(problem_by(By::push, 5, 3));
    subjects.push_back(verify::subject_of(algorithm_of(trial.rounds.back()), trial.rounds.back()));
  }
  EXPECT_EQ(verify::prove(verify::in_a_row(subjects)).fault, "");
  trial.build = [&](const Problem& own) { return build(algorithm_of(own), own); };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    trial.options.seed = seed;
    trial.types = seed % 2 == 0 ? replay::Types::gaps : replay::Types::contiguous;
    EXPECT_EQ(replay::run(trial), "") << "seed " << seed;
  }
}

// What a root awaits in its third broadcast, the first two have not: nobody has to have called.
TEST(OneSided, ARootIsAsManyBroadcastsAheadAsStagingHasPlaces) {
  const verify::Subject row = over_and_over(one_sided("one_sided_staged"), By::stage, 4, 3, 0);
  std::vector<std::int64_t> awaited;
  for (const Operation& operation : row.schedules[0].operations) {
    EXPECT_NE(operation.kind, Kind::receive);
    if (operation.kind == Kind::await) awaited.push_back(operation.value);
  }
  // Of two children in each.
  EXPECT_EQ(awaited, (std::vector<std::int64_t>{-1, -1, 0, 0, 1, 1}));
}

// The acknowledgements of rank 1, of which one notice at rank 0 tells.
bool acknowledges(const Operation& operation) {
  return operation.kind == Kind::notify && operation.counter == 2 * 2 + 1;
}

TEST(OneSided, WithoutAcknowledgementsStagingIsUsedUp) {
  verify::Subject subject = over_and_over(one_sided("one_sided_staged"), By::stage, 2, 3, 0);
  ASSERT_EQ(verify::prove(subject).fault, "");
  auto& operations = subject.schedules[1].operations;
  ASSERT_EQ(std::count_if(operations.begin(), operations.end(), acknowledges), 3);
  // The next one tells of those before.
  std::string fault = without(subject, 1, acknowledges);
  EXPECT_EQ(fault, "");
  for (Operation& operation : operations) {
    if (acknowledges(operation)) operation = Operation{.kind = Kind::join};
  }
  fault = verify::prove(subject).fault;
  EXPECT_TRUE(begins(fault, "deadlock")) << fault;
}

// All operations of one kind no longer depend on those of another.
verify::Subject all_apart(verify::Subject subject, Rank rank, Kind later, Kind earlier) {
  Schedule& schedule = subject.schedules[static_cast<std::size_t>(rank)];
  for (Operation& operation : schedule.operations) {
    if (operation.kind != later) continue;
    auto* const first = schedule.dependencies.data() + operation.first_dependency;
    auto* const last = std::remove_if(first, first + operation.dependencies, [&](const Dependency& on) {
      return schedule.operations[static_cast<std::size_t>(on.operation)].kind == earlier;
    });
    operation.dependencies = static_cast<std::int32_t>(last - first);
  }
  return subject;
}

TEST(OneSided, APutBeforeTheAcknowledgementOverwritesWhatIsStaged) {
  const verify::Subject two = over_and_over(one_sided("one_sided_staged"), By::stage, 2, 2, 0);
  EXPECT_EQ(verify::prove(all_apart(two, 0, Kind::put, Kind::await)).fault, "");
  const verify::Subject three = over_and_over(one_sided("one_sided_staged"), By::stage, 2, 3, 0);
  const std::string fault = verify::prove(all_apart(three, 0, Kind::put, Kind::await)).fault;
  EXPECT_TRUE(begins(fault, "race on staging in a window")) << fault;
}

TEST(OneSided, AnAcknowledgementBeforeTheCopyLetsStagedDataBeOverwritten) {
  const verify::Subject right = over_and_over(one_sided("one_sided_staged"), By::stage, 2, 3, 0);
  const std::string fault = verify::prove(all_apart(right, 1, Kind::notify, Kind::copy)).fault;
  EXPECT_TRUE(begins(fault, "race on staging in a window")) << fault;
}

TEST(OneSided, ACopyBeforeTheNoticeReadsWhatIsNotThere) {
  const verify::Subject right = verify::subject_of(one_sided("one_sided_staged"), problem_by(By::stage, 2, 0));
  EXPECT_NE(apart(right, 1, Kind::copy, Kind::await), "");
}

TEST(OneSided, ANoticeBeforeTheFlushIsARaceOnStaging) {
  const verify::Subject right = verify::subject_of(one_sided("one_sided_staged"), problem_by(By::stage, 2, 0));
  const std::string fault = apart(right, 0, Kind::notify, Kind::flush);
  EXPECT_TRUE(begins(fault, "race on staging in a window")) << fault;
}

TEST(OneSided, WindowsReachRanksOnOtherNodes) {
  const Topology apart = Topology::nodes(4, 1);
  Problem problem = problem_by(By::push, 4, 1);
  problem.topology = &apart;
  EXPECT_EQ(verify::prove(verify::subject_of(one_sided("one_sided_binomial"), problem)).fault, "");
}

}  // namespace
}  // namespace quadrille
