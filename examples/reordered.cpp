// A torus of all ranks: each exchanges a row or a column with its four neighbours. The ranks are renumbered so that
// neighbours are on the same nodes, and then take over the part of the torus that has their new number.

#include <mpi.h>

#include <array>
#include <cstdio>
#include <quadrille/quadrille.hpp>
#include <vector>

namespace {

constexpr int width = 4096;

struct Torus {
  std::array<int, 2> extents = {};

  explicit Torus(int ranks) { MPI_Dims_create(ranks, 2, extents.data()); }
  int at(int row, int column) const {
    return (row + extents[0]) % extents[0] * extents[1] + (column + extents[1]) % extents[1];
  }
  std::array<int, 4> neighbours(int rank) const {
    const int row = rank / extents[1];
    const int column = rank % extents[1];
    return {at(row - 1, column), at(row + 1, column), at(row, column - 1), at(row, column + 1)};
  }
};

// Sends a row in all four directions. Whether all that came is right.
bool exchange(MPI_Comm comm, const Torus& torus) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::array<int, 4> near = torus.neighbours(rank);
  const std::vector<double> mine(width, rank);
  std::vector<double> theirs(width);
  bool right = true;
  for (std::size_t i = 0; i < near.size(); ++i) {
    MPI_Sendrecv(mine.data(), width, MPI_DOUBLE, near[i ^ 1U], 0, theirs.data(), width, MPI_DOUBLE, near[i], 0, comm,
                 MPI_STATUS_IGNORE);
    right = right && theirs.back() == near[i];
  }
  return right;
}

// Messages of one exchange that go from one node to another, of all ranks.
int between_nodes(MPI_Comm comm, const Torus& torus) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int first = rank;  // stands for the node
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  std::vector<int> nodes(static_cast<std::size_t>(ranks));
  MPI_Allgather(&first, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm);
  int messages = 0;
  for (const int one : torus.neighbours(rank)) messages += nodes[static_cast<std::size_t>(one)] == first ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &messages, 1, MPI_INT, MPI_SUM, comm);
  return messages;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Torus torus(ranks);
  std::vector<quadrille::Neighbour> sends_to;
  for (const int one : torus.neighbours(rank)) sends_to.push_back({one, width * sizeof(double)});

  MPI_Comm comm = quadrille::reordered(MPI_COMM_WORLD, sends_to);
  int right = exchange(comm, torus) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, comm);
  const int before = between_nodes(MPI_COMM_WORLD, torus);
  const int after = between_nodes(comm, torus);
  if (rank == 0) std::printf("messages between nodes: %d, reordered %d\n", before, after);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return right != 0 && after <= before ? 0 : 1;
}
