#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "algorithms/catalogue.hpp"
#include "mutation/explorer.hpp"
#include "mutation/mutants.hpp"
#include "stretch/schedules.hpp"
#include "stretch/sparse_exchange.hpp"
#include "verify/proof.hpp"

// A verifier can only be trusted if it rejects broken schedules. Thousands of correct ones are mutated at random; each
// mutant must be rejected by the proof, or be shown harmless by exploring all interleavings.
namespace quadrille::mutation {
namespace {

constexpr std::int64_t most_states = 3'000'000;
constexpr std::int64_t most_states_of_a_victim = 20'000;

struct Victim {
  std::string name;
  verify::Subject subject;
};

Problem small_problem(Rank ranks, Rank root, std::int64_t count, std::int64_t segment, bool in_place,
                      bool commutative) {
  Problem problem;
  problem.ranks = ranks;
  problem.root = root;
  problem.count = count;
  problem.segment = segment;
  problem.window = 2;
  problem.in_place = in_place;
  problem.commutative = commutative;
  return problem;
}

// Where an algorithm runs, if that matters to what is built at all.
struct Ground {
  Rank per_node = 0;  // 0: unknown
  std::int64_t room = 0;
  // Of windows.
  bool pulls = false;
  std::int64_t box = 0;
  std::int64_t staging = 0;
};

std::vector<Ground> grounds_of(const Algorithm& algorithm, Rank ranks) {
  const Ground two_nodes{.per_node = (ranks + 1) / 2, .room = 16};
  if (algorithm.restrictions.one_node) return {{.per_node = ranks, .room = 5}};  // of pieces of one unit
  if (algorithm.restrictions.offloads) return {two_nodes};
  if (algorithm.restrictions.exposed) return {{}, {.pulls = true}, {.box = 16, .staging = 16}};
  return algorithm.hierarchical ? std::vector<Ground>{{}, two_nodes} : std::vector<Ground>{{}};
}

// Every algorithm on a few ranks, in all its variants whose interleavings can be explored.
void add_catalogue(std::vector<Victim>& victims) {
  const auto add = [&](const Algorithm& algorithm, Rank ranks, const Ground& ground, int variety) {
    const Traits of = traits(algorithm.collective);
    const bool in_place = variety % 2 == 1;
    Problem problem = small_problem(ranks, ranks - 1, of.in_blocks() ? 2 : ranks + 1, 2, in_place, variety / 2 == 0);
    problem.fixed_order = variety / 2 == 2;
    const Topology topology = Topology::nodes(ranks, std::max<Rank>(ground.per_node, 1));
    if (ground.per_node > 0) problem.topology = &topology;
    problem.room = ground.room;
    problem.offloads = algorithm.restrictions.offloads;
    problem.exposed = algorithm.restrictions.exposed;
    problem.pulls = ground.pulls;
    problem.box = ground.box;
    problem.staging = ground.staging;
    const bool pointless = (!of.reduces && variety / 2 > 0) || !refusal(algorithm, problem).empty();
    if (pointless) return;
    const BlockSizes sizes = [in_place](Rank from, Rank to) {
      return std::int64_t{in_place ? (from + to) % 3 : (from + 2 * to) % 3};
    };
    Victim victim{fmt::format("{} {} on {}", name(algorithm.collective), algorithm.name, ranks),
                  verify::subject_of(algorithm, problem, sizes)};
    const Opinion opinion = explore(victim.subject, most_states_of_a_victim);
    if (opinion.kind != Opinion::Kind::too_large) victims.push_back(std::move(victim));
  };
  for (const Algorithm* algorithm : catalogue()) {
    for (Rank ranks : {2, 3, 4, 5}) {
      for (const Ground& ground : grounds_of(*algorithm, ranks)) {
        for (int variety = 0; variety < 6; ++variety) add(*algorithm, ranks, ground, variety);
      }
    }
  }
}

verify::Subject rounds(const Build& build, Problem problem, int count, Rank next_root = 1) {
  std::vector<verify::Subject> subjects;
  for (int round = 0; round < count; ++round) {
    subjects.push_back(verify::subject_of(Collective::bcast, build, problem, {}, 0));
    problem.root = (problem.root + next_root) % problem.ranks;
  }
  return count == 1 ? subjects.front() : verify::in_a_row(subjects);
}

void add_stretching(std::vector<Victim>& victims) {
  static const Topology two_nodes = Topology::nodes(4, 2);
  for (int count : {1, 2, 3}) {
    victims.push_back(
        {"shared memory bcast", rounds(stretch::shared_memory_bcast, small_problem(2, 0, 5, 2, false, true), count)});
    victims.push_back(
        {"one-sided bcast", rounds(stretch::one_sided_bcast, small_problem(2, 1, 2, 0, false, true), count)});
  }
  const Algorithm& one_sided = *find_algorithm(Collective::bcast, "one_sided_binomial");
  for (const Ground& ground : grounds_of(one_sided, 2)) {
    Problem problem = small_problem(3, 0, 2, 0, false, true);
    problem.exposed = true;
    problem.pulls = ground.pulls;
    problem.box = ground.box;
    victims.push_back(
        {"one-sided in a row", rounds([&](const Problem& own) { return build(one_sided, own); }, problem, 3)});
  }
  // The root may be two broadcasts ahead, and waits for acknowledgements from the third on.
  const Algorithm& staged = *find_algorithm(Collective::bcast, "one_sided_staged");
  for (Rank ranks : {2, 3}) {
    Problem problem = small_problem(ranks, 0, 2, 0, false, true);
    problem.exposed = true;
    problem.staging = 3;
    const auto by_staging = [&](const Problem& own) { return build(staged, own); };
    victims.push_back({"staged in a row from one root", rounds(by_staging, problem, 4, 0)});
    victims.push_back({"staged in a row", rounds(by_staging, problem, 4)});
  }
  victims.push_back(
      {"shared memory bcast on 3", rounds(stretch::shared_memory_bcast, small_problem(3, 0, 5, 2, false, true), 2)});
  victims.push_back(
      {"one-sided bcast on 4", rounds(stretch::one_sided_bcast, small_problem(4, 0, 2, 0, false, true), 2)});
  Problem two_level = small_problem(4, 1, 5, 2, false, true);
  two_level.topology = &two_nodes;
  victims.push_back({"two-level bcast", rounds(stretch::two_level_bcast, two_level, 1)});
  Problem in_place = small_problem(3, 0, 0, 2, true, true);
  const BlockSizes symmetric = [](Rank a, Rank b) { return std::int64_t{2 * (a + b) - 1}; };
  const BlockSizes sparse = [](Rank a, Rank b) { return std::int64_t{(a + 2 * b) % 3 == 0 ? 2 : 0}; };
  victims.push_back({"sparse exchange in two phases", stretch::replayed_sparse_exchange(3, sparse, 1)});
  victims.push_back({"in-place alltoallv",
                     verify::subject_of(Collective::alltoallv, stretch::in_place_alltoallv, in_place, symmetric, 4)});
}

struct Victims {
  std::vector<Victim> all;
  std::size_t stretching = 0;  // the first that is not in the catalogue
};
const Victims& victims() {
  static const Victims made = [] {
    Victims victims;
    add_catalogue(victims.all);
    victims.stretching = victims.all.size();
    add_stretching(victims.all);
    return victims;
  }();
  return made;
}

std::int64_t mutants_wanted() {
  const char* text = std::getenv("QUADRILLE_MUTANTS");
  return text ? std::atoll(text) : 14000;
}

TEST(Mutation, EveryScheduleIsCorrectBeforeMutation) {
  for (const Victim& victim : victims().all) {
    EXPECT_EQ(verify::prove(victim.subject).fault, "") << victim.name;
    const Opinion opinion = explore(victim.subject, most_states);
    EXPECT_EQ(opinion.kind, Opinion::Kind::right) << victim.name << ": " << opinion.why;
    if (std::getenv("QUADRILLE_VERBOSE")) fmt::print("{}: {} states\n", victim.name, opinion.states);
  }
}

TEST(Mutation, EveryAlgorithmIsMutated) {
  for (const Algorithm* algorithm : catalogue()) {
    const std::string start = fmt::format("{} {} on ", name(algorithm->collective), algorithm->name);
    const auto is_of_it = [&](const Victim& victim) { return victim.name.starts_with(start); };
    EXPECT_TRUE(std::any_of(victims().all.begin(), victims().all.end(), is_of_it)) << start;
  }
}

struct Tally {
  int rejected = 0;
  int equivalent = 0;
  int confirmed = 0;  // rejected mutants that the explorer finds wrong, too
};

TEST(Mutation, EveryMutantIsRejectedOrShownEquivalentByAllInterleavings) {
  const std::vector<Victim>& all = victims().all;
  const std::uint64_t seed =
      std::getenv("QUADRILLE_SEED") ? std::strtoull(std::getenv("QUADRILLE_SEED"), nullptr, 10) : 1;
  std::mt19937_64 random(seed);
  std::map<Damage, Tally> tallies;
  std::int64_t made = 0;
  for (std::int64_t tries = 0; made < mutants_wanted() && tries < 100 * mutants_wanted(); ++tries) {
    const auto damage = static_cast<Damage>(tries % damages);
    // The stretch schedules are few and have the rarer kinds of operations: every fourth mutant is one of them.
    const std::size_t first = random() % 4 == 0 ? victims().stretching : 0;
    const Victim& victim = all[first + random() % (all.size() - first)];
    verify::Subject mutant = victim.subject;
    if (!inflict(damage, mutant, random)) continue;
    if (mutant.schedules == victim.subject.schedules && mutant.nodes == victim.subject.nodes) continue;
    ++made;
    const verify::ProofResult verdict = verify::prove(mutant);
    const Opinion opinion = explore(mutant, most_states);
    Tally& tally = tallies[damage];
    if (verdict.proved()) {
      ++tally.equivalent;
      if (std::getenv("QUADRILLE_VERBOSE")) fmt::print("equivalent: {} in {}\n", name(damage), victim.name);
      EXPECT_EQ(opinion.kind, Opinion::Kind::right)
          << name(damage) << " in " << victim.name << " (seed " << seed << ") was proved, but " << opinion.why;
    } else {
      ++tally.rejected;
      if (opinion.kind == Opinion::Kind::wrong) ++tally.confirmed;
      if (opinion.kind == Opinion::Kind::right && std::getenv("QUADRILLE_VERBOSE")) {
        fmt::print("harmless after all: {} in {}: {}\n", name(damage), victim.name, verdict.fault);
      }
    }
  }
  int total = 0;
  fmt::print("{:<22}{:>10}{:>12}{:>12}\n", "damage", "rejected", "equivalent", "confirmed");
  for (const auto& [damage, tally] : tallies) {
    fmt::print("{:<22}{:>10}{:>12}{:>12}\n", name(damage), tally.rejected, tally.equivalent, tally.confirmed);
    total += tally.rejected + tally.equivalent;
    EXPECT_GT(tally.rejected, 0) << "no mutant of this kind was rejected: " << name(damage);
    // An explorer that accepts everything would contradict the proof's rejections.
    EXPECT_GE(tally.confirmed, tally.rejected * 9 / 10) << name(damage);
  }
  fmt::print("{} mutants of {} kinds\n", total, tallies.size());
  EXPECT_EQ(tallies.size(), damages);
  EXPECT_GE(total, mutants_wanted());
}

}  // namespace
}  // namespace quadrille::mutation
