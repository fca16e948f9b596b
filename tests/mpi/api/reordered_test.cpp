#include <gtest/gtest.h>
#include <quadrille/quadrille.h>

#include <array>
#include <quadrille/quadrille.hpp>
#include <string>
#include <vector>

namespace quadrille::test {
namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// All are on one node: there is nothing to gain. Renumbering itself is tested with places that are made up.
TEST(Reordered, KeepsTheOrderOnOneNode) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  const std::vector<Neighbour> sends_to = {{(rank + 1) % ranks, 1 << 20}, {MPI_PROC_NULL, 5}, {rank, 1}, {0, 0}};
  MPI_Comm made = reordered(MPI_COMM_WORLD, sends_to);
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(MPI_COMM_WORLD, made, &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
  EXPECT_EQ(Communicator(made).size(), ranks);
  MPI_Comm_free(&made);
}

TEST(Reordered, OfAWrongNeighbourIsAnErrorOnAllRanks) {
  const int last = size_of(MPI_COMM_WORLD) - 1;
  std::vector<Neighbour> sends_to;
  if (rank_in(MPI_COMM_WORLD) == last) sends_to.push_back({last + 1, 8});
  EXPECT_THROW(reordered(MPI_COMM_WORLD, sends_to), Error);
  EXPECT_THROW(reordered(MPI_COMM_NULL, {}), Error);
}

TEST(Reordered, IsThereForC) {
  const std::array<int, 2> ranks = {0, MPI_PROC_NULL};
  const std::array<MPI_Count, 2> bytes = {100, 0};
  for (const MPI_Count* const each : {bytes.data(), static_cast<const MPI_Count*>(nullptr)}) {
    MPI_Comm made = MPI_COMM_NULL;
    ASSERT_EQ(quadrille_reordered(MPI_COMM_WORLD, 2, ranks.data(), each, &made), MPI_SUCCESS);
    EXPECT_EQ(rank_in(made), rank_in(MPI_COMM_WORLD));
    MPI_Comm_free(&made);
  }
  MPI_Comm none = MPI_COMM_NULL;
  const int wrong = -100;
  EXPECT_EQ(quadrille_reordered(MPI_COMM_WORLD, 1, &wrong, nullptr, &none), MPI_ERR_RANK);
  EXPECT_NE(std::string(quadrille_error_text()).find("has a neighbour that is no rank"), std::string::npos);
  EXPECT_EQ(quadrille_reordered(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr), MPI_ERR_ARG);
}

}  // namespace
}  // namespace quadrille::test
