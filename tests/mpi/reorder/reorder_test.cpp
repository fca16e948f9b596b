#include "reorder/reorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <quadrille/error.hpp>

namespace quadrille::reorder {
namespace {

using placement::Sent;

cost::Model slow_network() {
  cost::Model model;
  model.node = {.latency = 2e-7, .overhead = 3e-7, .work = 1e-10};
  model.network = {.latency = 2e-5, .overhead = 2e-6, .work = 2e-10, .wire = 8e-9};
  model.rack = model.network;
  return model;
}

struct World {
  int rank = 0;
  int ranks = 0;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
};

std::vector<int> gathered(int mine) {
  std::vector<int> all(static_cast<std::size_t>(World().ranks));
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return all;
}

std::vector<int> in_order(int ranks) {
  std::vector<int> numbers(static_cast<std::size_t>(ranks));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Each rank with the one after it, 0 and 1, 2 and 3, ...
Traffic to_partner(int rank, int ranks) {
  if ((rank ^ 1) >= ranks) return {};
  return {{{rank, rank ^ 1, 1, 1e6}}};
}

// Ranks in turn on two nodes that are there as far as this is concerned.
Place cyclic(int rank) {
  return {static_cast<std::uint64_t>(rank % 2 + 1), 0};
}

// Pairs of partners on two nodes, where each process has its new rank.
int pairs_apart(const World& world, int new_rank) {
  const std::vector<int> numbers = gathered(new_rank);
  std::vector<int> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, in_order(world.ranks));
  std::vector<Place> places(numbers.size());
  for (int process = 0; process < world.ranks; ++process) {
    places[static_cast<std::size_t>(numbers[static_cast<std::size_t>(process)])] = cyclic(process);
  }
  int apart = 0;
  for (std::size_t rank = 0; rank + 1 < places.size(); rank += 2) apart += places[rank] != places[rank + 1] ? 1 : 0;
  return apart;
}

// Of two ranks there is one on each node; on 3, 4 and 7 there is room for all pairs.
int least_apart(const World& world) {
  return world.ranks == 2 ? 1 : 0;
}

TEST(NewRank, PutsPartnersOnOneNode) {
  const World world;
  const int mine = new_rank(MPI_COMM_WORLD, to_partner(world.rank, world.ranks), cyclic(world.rank), slow_network());
  EXPECT_EQ(pairs_apart(world, mine), least_apart(world));
}

TEST(NewRank, IsTheSameWhereOneRankKnowsAllOfTheGraph) {
  const World world;
  Traffic all;
  for (int rank = 0; world.rank == world.ranks - 1 && rank < world.ranks; ++rank) {
    for (const Sent& one : to_partner(rank, world.ranks).sent) all.sent.push_back(one);
  }
  EXPECT_EQ(new_rank(MPI_COMM_WORLD, all, cyclic(world.rank), slow_network()),
            new_rank(MPI_COMM_WORLD, to_partner(world.rank, world.ranks), cyclic(world.rank), slow_network()));
}

// Who is with whom, weights decide: each rank also sends a hundredth to the one two further on.
TEST(NewRank, HeedsWeightsInProportion) {
  const World world;
  for (const double weight : {1e-3, 1e9}) {
    Traffic traffic = to_partner(world.rank, world.ranks);
    traffic.unit = Traffic::Unit::weights;
    for (Sent& one : traffic.sent) one.bytes = weight;
    if (world.rank + 2 < world.ranks) traffic.sent.push_back({world.rank, world.rank + 2, 1, weight / 100});
    const int mine = new_rank(MPI_COMM_WORLD, traffic, cyclic(world.rank), slow_network());
    EXPECT_EQ(pairs_apart(world, mine), least_apart(world));
  }
}

TEST(NewRank, StaysWhereNothingIsGained) {
  const World world;
  EXPECT_EQ(new_rank(MPI_COMM_WORLD, {}, cyclic(world.rank), slow_network()), world.rank);
  // All of them are on this node.
  EXPECT_EQ(new_rank(MPI_COMM_WORLD, to_partner(world.rank, world.ranks), slow_network()), world.rank);
}

TEST(NewRank, OfAWrongNeighbourIsAnErrorOnAllRanks) {
  const World world;
  Traffic wrong;
  if (world.rank == world.ranks - 1) wrong.sent.push_back({world.rank, world.ranks, 1, 8});
  try {
    new_rank(MPI_COMM_WORLD, wrong, slow_network());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), MPI_ERR_RANK);
    EXPECT_EQ(std::string(error.what()), "reordered: rank " + std::to_string(world.ranks - 1) +
                                             " has a neighbour that is no rank of the communicator");
  }
}

TEST(Renumbered, GivesEachProcessItsNewRank) {
  const World world;
  const int wanted = world.ranks - 1 - world.rank;
  MPI_Comm made = renumbered(MPI_COMM_WORLD, wanted);
  int rank = -1;
  MPI_Comm_rank(made, &rank);
  EXPECT_EQ(rank, wanted);
  MPI_Comm_free(&made);
}

}  // namespace
}  // namespace quadrille::reorder
