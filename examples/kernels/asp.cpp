// asp: shortest paths between all pairs of nodes of a graph, by Floyd and Warshall; rows in blocks, and row k is
// broadcast in step k. After the ASP of the Orca and Manta projects.

#include <algorithm>
#include <cstdint>

#include "kernel.hpp"

namespace {

using Rows = std::vector<std::int32_t>;

std::int32_t distance(int from, int to, int n) {
  if (from == to) return 0;
  const std::uint64_t hash = (static_cast<std::uint64_t>(from) * n + to) * 0x9E3779B97F4A7C15u;
  return 1 + static_cast<std::int32_t>((hash >> 40) % 1000);
}

int first_row(int rank, int ranks, int n) {
  return static_cast<int>(static_cast<std::int64_t>(n) * rank / ranks);
}

Rows rows_between(int begin, int end, int n) {
  Rows rows;
  for (int i = begin; i < end; ++i) {
    for (int j = 0; j < n; ++j) rows.push_back(distance(i, j, n));
  }
  return rows;
}

void relax(Rows& rows, const std::int32_t* row, int k, int n) {
  for (std::size_t i = 0; i < rows.size(); i += n) {
    const std::int32_t to = rows[i + k];
    for (int j = 0; j < n; ++j) rows[i + j] = std::min(rows[i + j], to + row[j]);
  }
}

double sum_of(const Rows& rows) {
  double sum = 0;
  for (const std::int32_t one : rows) sum += one;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("asp", argc, argv);
  const int n = kernel.argument(0, 768);
  const int begin = first_row(kernel.rank, kernel.ranks, n);
  Rows rows = rows_between(begin, first_row(kernel.rank + 1, kernel.ranks, n), n);
  Rows row(n);
  kernel.start();
  for (int k = 0, owner = 0; k < n; ++k) {
    while (k >= first_row(owner + 1, kernel.ranks, n)) ++owner;
    if (owner == kernel.rank) std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(k - begin) * n, n, row.begin());
    MPI_Bcast(row.data(), n, MPI_INT32_T, owner, MPI_COMM_WORLD);
    relax(rows, row.data(), k, n);
  }
  kernel.stop();
  const double sum = sum_of_all(sum_of(rows));
  bool right = true;
  if (kernel.rank == 0) {
    Rows all = rows_between(0, n, n);
    for (int k = 0; k < n; ++k) relax(all, Rows(all.begin() + k * n, all.begin() + (k + 1) * n).data(), k, n);
    right = sum_of(all) == sum && std::equal(rows.begin(), rows.end(), all.begin());
  }
  return kernel.end(std::to_string(n) + " nodes", right);
}
