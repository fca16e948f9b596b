// Transposes a square matrix that is distributed by rows, as between the two passes of an FFT. The blocks of two ranks
// are exchanged in place, without a second matrix.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <quadrille/quadrille.hpp>
#include <span>
#include <utility>
#include <vector>

namespace {

constexpr int order = 1000;

// Rows and columns are distributed as evenly as possible. A rank owns the rows `first_of(rank)` to `first_of(rank +
// 1)`.
int first_of(int rank, int ranks) {
  return static_cast<int>(std::int64_t{order} * rank / ranks);
}

double element(int row, int column) {
  return static_cast<double>(row) * order + column;
}

// A block of the matrix, in row-major order.
MPI_Datatype by_rows(int rows, int columns) {
  MPI_Datatype block = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, columns, order, MPI_DOUBLE, &block);
  MPI_Type_commit(&block);
  return block;
}

// The same, in column-major order.
MPI_Datatype by_columns(int rows, int columns) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Datatype next_to_another = MPI_DATATYPE_NULL;
  MPI_Datatype block = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, order, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &next_to_another);
  MPI_Type_contiguous(columns, next_to_another, &block);
  MPI_Type_commit(&block);
  MPI_Type_free(&next_to_another);
  MPI_Type_free(&column);
  return block;
}

void transpose(quadrille::Communicator& comm, std::span<double> rows) {
  const int rank = comm.rank();
  const int ranks = comm.size();
  const int first = first_of(rank, ranks);
  const int height = first_of(rank + 1, ranks) - first;

  // The blocks of two ranks have transposed shapes. If one rank describes its block in row-major and the other in
  // column-major order, each element arrives at its transposed position, in both directions.
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(ranks), 1);
  std::vector<std::int64_t> places;  // in bytes
  std::vector<MPI_Datatype> blocks;
  for (int peer = 0; peer < ranks; ++peer) {
    const int column = first_of(peer, ranks);
    const int width = first_of(peer + 1, ranks) - column;
    places.push_back(std::int64_t{column} * static_cast<std::int64_t>(sizeof(double)));
    blocks.push_back(rank < peer ? by_rows(height, width) : by_columns(height, width));
  }
  // With MPI_IN_PLACE the send data is taken from the receive blocks.
  comm.alltoallw(MPI_IN_PLACE, {}, rows.data(), {ones.data(), places.data(), blocks.data()});
  for (MPI_Datatype& block : blocks) MPI_Type_free(&block);

  // The own block is square and is transposed locally.
  double* own = rows.data() + first;
  for (int i = 0; i < height; ++i) {
    for (int j = 0; j < i; ++j) std::swap(own[i * order + j], own[j * order + i]);
  }
}

// Whether the rows from `first` on equal those of the transposed matrix.
bool transposed(std::span<const double> rows, int first) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int row = first + static_cast<int>(i / order);
    const int column = static_cast<int>(i % order);
    if (rows[i] != element(column, row)) return false;
  }
  return true;
}

bool run() {
  quadrille::Communicator comm(MPI_COMM_WORLD);
  const int first = first_of(comm.rank(), comm.size());
  const int last = first_of(comm.rank() + 1, comm.size());
  std::vector<double> rows;
  rows.reserve(static_cast<std::size_t>(last - first) * order);
  for (int row = first; row < last; ++row) {
    for (int column = 0; column < order; ++column) rows.push_back(element(row, column));
  }

  transpose(comm, rows);

  // The maximum over all ranks.
  struct Result {
    bool wrong;
    std::int64_t peak;
    std::int64_t matrix;
  } result{!transposed(rows, first), quadrille::Communicator::peak_bytes(),
           static_cast<std::int64_t>(rows.size() * sizeof(double))};
  comm.allreduce(std::span(&result, 1), std::span(&result, 1), [](const Result& a, const Result& b) {
    return Result{a.wrong || b.wrong, std::max(a.peak, b.peak), std::max(a.matrix, b.matrix)};
  });
  if (comm.rank() == 0) {
    std::printf(
        "%d x %d on %d ranks: %s; %lld bytes beside the matrix of %lld per rank, a second buffer would take %lld\n",
        order, order, comm.size(), result.wrong ? "WRONG" : "right", static_cast<long long>(result.peak),
        static_cast<long long>(result.matrix), static_cast<long long>(result.matrix));
  }
  return !result.wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = false;
  try {
    right = run();
  } catch (const quadrille::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
