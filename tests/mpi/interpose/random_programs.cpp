// Random programs that know nothing of the drop-in: random_programs COUNT. Each makes communicators of members of
// others, and calls collectives on them, each again and again, while some ranks are late. Checks all results.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : next_(seed) {}
  unsigned operator()() { return static_cast<unsigned>(next_()); }

 private:
  std::mt19937 next_;
};

int rank_in_world = 0;
int ranks_of_world = 1;
long faults = 0;
long calls = 0;

// A communicator, by what every rank of the world knows of it.
struct Known {
  std::vector<int> members;
  MPI_Comm comm = MPI_COMM_NULL;  // null: this rank is no member
};

void expect(bool right) {
  if (!right) ++faults;
}

Known part_of(const Known& parent, Random& shared) {
  Known part;
  bool mine = false;
  for (const int one : parent.members) {
    const bool takes_part = shared() % 3 != 0;
    if (takes_part) part.members.push_back(one);
    mine |= takes_part && one == rank_in_world;
  }
  const int backwards = shared() % 2 == 0 ? -1 : 1;
  if (backwards < 0) std::reverse(part.members.begin(), part.members.end());
  if (parent.comm != MPI_COMM_NULL) {
    MPI_Comm_split(parent.comm, mine ? 0 : MPI_UNDEFINED, backwards * static_cast<int>(rank_in_world), &part.comm);
  }
  return part;
}

void call(const Known& on, unsigned which, int count, int number) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(on.comm, &rank);
  MPI_Comm_size(on.comm, &size);
  const auto length = static_cast<std::size_t>(count);
  std::vector<int> own(length, number + rank);
  std::vector<int> all(length * static_cast<std::size_t>(size), -1);
  const int sum = number * size + size * (size - 1) / 2;
  const int root = number % size;
  const auto equal = [&](const std::vector<int>& what, std::size_t upto, int value) {
    expect(
        std::all_of(what.begin(), what.begin() + static_cast<std::ptrdiff_t>(upto), [&](int x) { return x == value; }));
  };
  switch (which) {
    case 0:
      MPI_Bcast(own.data(), count, MPI_INT, root, on.comm);
      equal(own, length, number + root);
      break;
    case 1:
      MPI_Allreduce(own.data(), all.data(), count, MPI_INT, MPI_SUM, on.comm);
      equal(all, length, sum);
      break;
    case 2:
      MPI_Reduce(own.data(), all.data(), count, MPI_INT, MPI_SUM, root, on.comm);
      if (rank == root) equal(all, length, sum);
      break;
    case 3:
      MPI_Allgather(own.data(), count, MPI_INT, all.data(), count, MPI_INT, on.comm);
      for (int peer = 0; peer < size && count > 0; ++peer) {
        expect(all[static_cast<std::size_t>(peer) * length] == number + peer);
      }
      break;
    default:
      MPI_Barrier(on.comm);
  }
  ++calls;
}

void program(unsigned seed) {
  Random shared(seed);
  Random own(seed * 1000 + static_cast<unsigned>(rank_in_world));
  std::vector<Known> all(1);
  for (int i = 0; i < ranks_of_world; ++i) all.front().members.push_back(i);
  MPI_Comm_dup(MPI_COMM_WORLD, &all.front().comm);
  const int late = static_cast<int>(shared() % static_cast<unsigned>(ranks_of_world));
  for (int burst = 0; burst < 8; ++burst) {
    const std::size_t which = shared() % all.size();
    if (all.size() < 5 && shared() % 2 == 0) {
      Known made = part_of(all[which], shared);
      if (!made.members.empty()) all.push_back(std::move(made));
    }
    const unsigned collective = shared() % 5;
    const unsigned repeats = shared() % 60;
    const int count = shared() % 4 == 0 ? 4000 : 1 + static_cast<int>(shared() % 3);
    for (unsigned i = 0; i < repeats; ++i) {
      if (all[which].comm == MPI_COMM_NULL) continue;
      if (rank_in_world == late && own() % 16 == 0) usleep(own() % 300);
      call(all[which], collective, count, static_cast<int>(i));
    }
  }
  for (Known& one : all) {
    if (one.comm != MPI_COMM_NULL) MPI_Comm_free(&one.comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_in_world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_of_world);
  const int programs = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int seed = 0; seed < programs; ++seed) program(static_cast<unsigned>(seed));
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank_in_world == 0) std::printf("%d programs, %ld calls of rank 0, %ld faults\n", programs, calls, faults);
  MPI_Finalize();
  return faults == 0 ? 0 : 1;
}
