// rounding CALL...: for each call, as allreduce:4096 or, on the first 3 ranks alone, allreduce:4096:3, a line with the
// bits of its sums on all ranks. Sums of doubles depend on the order in which they are made, so on the algorithm.

#include <mpi.h>

#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench/finalize.hpp"

namespace {

// Of very different sizes, so that every order rounds differently.
double value(int rank, std::size_t element) {
  const double sign = rank % 2 == 0 ? 1 : -1;
  return sign * std::pow(10.0, (rank * 7 + static_cast<int>(element)) % 11) /
         (3.0 + rank + static_cast<double>(element));
}

std::uint64_t mixed(std::uint64_t hash, const std::vector<double>& values) {
  for (double one : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &one, sizeof bits);
    hash = (hash ^ bits) * 1099511628211U;
  }
  return hash;
}

std::uint64_t sums(const std::string& collective, std::size_t count, MPI_Comm comm) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<double> in(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = value(rank, i);
  std::vector<double> out(count);
  const int all = static_cast<int>(count);
  if (collective == "allreduce") MPI_Allreduce(in.data(), out.data(), all, MPI_DOUBLE, MPI_SUM, comm);
  if (collective == "reduce") MPI_Reduce(in.data(), out.data(), all, MPI_DOUBLE, MPI_SUM, 0, comm);
  if (collective == "reduce_scatter_block") {
    MPI_Reduce_scatter_block(in.data(), out.data(), all / ranks, MPI_DOUBLE, MPI_SUM, comm);
  }
  const std::uint64_t mine = mixed(1469598103934665603U, out) * (2 * static_cast<std::uint64_t>(rank) + 1);
  std::uint64_t everyone = 0;
  MPI_Reduce(&mine, &everyone, 1, MPI_UINT64_T, MPI_SUM, 0, comm);
  return everyone;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; ++i) {
    const std::string call = argv[i];
    const std::size_t first = call.find(':');
    const std::size_t second = call.find(':', first + 1);
    const int some = second == std::string::npos ? ranks : std::atoi(call.c_str() + second + 1);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    const std::size_t bytes = std::strtoul(call.c_str() + first + 1, nullptr, 10);
    const std::uint64_t result = sums(call.substr(0, first), bytes / sizeof(double), comm);
    if (rank == 0) std::printf("%s %016" PRIx64 "\n", call.c_str(), result);
    MPI_Comm_free(&comm);
  }
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int here = 0;
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  return quadrille::bench::finalize(here < ranks, 0);
}
