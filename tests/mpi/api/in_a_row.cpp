// Short collectives in a row through shared memory, from and to each rank in turn: in_a_row COUNT. Looks at every
// result. Without a count it goes on until it is ended.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <quadrille/quadrille.hpp>

namespace {

constexpr std::int64_t between_words = 1'000'000;

// What a rank has to say in a round: neither the same as another's nor as the round's before.
std::int64_t word(std::int64_t round, int rank) {
  return round * 1000 + rank;
}

std::int64_t sum_of_words(std::int64_t round, int ranks) {
  return round * 1000 * ranks + std::int64_t{ranks} * (ranks - 1) / 2;
}

// Whether the round's collective, one of four in turn, gave what it should.
bool right(quadrille::Communicator& comm, std::int64_t round) {
  const quadrille::Options through_memory{.algorithm = "hierarchical"};
  const int root = static_cast<int>(round / 4 % comm.size());
  const std::int64_t mine = word(round, comm.rank());
  std::int64_t result = mine;
  switch (round % 4) {
    case 0:
      comm.bcast(&result, 1, MPI_INT64_T, root, through_memory);
      return result == word(round, root);
    case 1:
      comm.reduce(&mine, &result, 1, MPI_INT64_T, MPI_SUM, root, through_memory);
      return comm.rank() != root || result == sum_of_words(round, comm.size());
    case 2:
      comm.allreduce(&mine, &result, 1, MPI_INT64_T, MPI_SUM, through_memory);
      return result == sum_of_words(round, comm.size());
    default:
      comm.barrier(through_memory);
      return true;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool all_right = true;
  {
    quadrille::Communicator comm(MPI_COMM_WORLD);
    const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : std::numeric_limits<std::int64_t>::max();
    for (std::int64_t round = 0; round < count && all_right; ++round) {
      if (comm.rank() == 0 && round % between_words == 0) {
        std::printf("%lld in a row\n", static_cast<long long>(round));
        std::fflush(stdout);
      }
      all_right = right(comm, round);
      if (!all_right)
        std::fprintf(stderr, "rank %d: wrong in number %lld\n", comm.rank(), static_cast<long long>(round));
    }
    if (!all_right) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
