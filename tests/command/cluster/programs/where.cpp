// Prints for each rank: its number, its host, and the first and the number of ranks that share memory with it. With the
// argument "pairs" each rank first sends a long message to the one half of all ranks away; with "stay" all ranks wait
// until they are killed.

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

struct Place {
  std::array<char, 64> host{};
  int first = 0;
  int sharing = 0;
};

Place place_of(int rank) {
  Place place;
  gethostname(place.host.data(), place.host.size() - 1);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &place.sharing);
  place.first = rank;
  MPI_Bcast(&place.first, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  return place;
}

void exchange(int rank, int ranks) {
  std::vector<char> out(1 << 20);
  std::vector<char> in(out.size());
  const int count = static_cast<int>(out.size());
  const int peer = (rank + ranks / 2) % ranks;
  MPI_Sendrecv(out.data(), count, MPI_BYTE, peer, 0, in.data(), count, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "pairs") exchange(rank, ranks);
  const Place mine = place_of(rank);
  std::vector<Place> all(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::printf("%zu %s %d %d\n", i, all[i].host.data(), all[i].first, all[i].sharing);
  }
  std::fflush(stdout);
  while (what == "stay") pause();
  MPI_Finalize();
}
