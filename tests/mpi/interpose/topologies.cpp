// Makes a torus of all ranks by each of MPI's functions, with reorder, on a communicator whose order is shuffled:
// checks that every rank has the neighbours of its new number, with their weights and in their order, and prints how
// many ranks have moved and how many of all pairs of neighbours are on two nodes. With "stay" all ranks wait then until
// they are killed. With "wrong" a rank that does not exist is a neighbour.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

int faults = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++faults;
  std::fprintf(stderr, "fault: %s\n", what);
}

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

struct Torus {
  std::array<int, 2> extents = {};

  explicit Torus(int ranks) { MPI_Dims_create(ranks, 2, extents.data()); }
  int at(int row, int column) const {
    return (row + extents[0]) % extents[0] * extents[1] + (column + extents[1]) % extents[1];
  }
  // Up, down, left, right.
  std::vector<int> neighbours(int rank) const {
    const int row = rank / extents[1];
    const int column = rank % extents[1];
    return {at(row - 1, column), at(row + 1, column), at(row, column - 1), at(row, column + 1)};
  }
};

// Of an edge, the same in both directions.
int weight(int from, int to) {
  return 1 + std::min(from, to) + 100 * std::max(from, to);
}

std::vector<int> weights(int rank, const std::vector<int>& neighbours) {
  std::vector<int> all;
  for (const int one : neighbours) all.push_back(weight(rank, one));
  return all;
}

// The same on every rank.
MPI_Comm shuffled(unsigned seed) {
  std::vector<int> keys(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  std::iota(keys.begin(), keys.end(), 0);
  std::mt19937 random(seed);
  std::shuffle(keys.begin(), keys.end(), random);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, keys[static_cast<std::size_t>(rank_in(MPI_COMM_WORLD))], &comm);
  return comm;
}

MPI_Comm cart(MPI_Comm comm, const Torus& torus) {
  constexpr std::array<int, 2> periods = {1, 1};
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Cart_create(comm, 2, torus.extents.data(), periods.data(), 1, &made);
  std::vector<int> found(4);
  MPI_Cart_shift(made, 0, 1, &found[0], &found[1]);
  MPI_Cart_shift(made, 1, 1, &found[2], &found[3]);
  expect(found == torus.neighbours(rank_in(made)), "MPI_Cart_create: neighbours");
  return made;
}

MPI_Comm graph(MPI_Comm comm, const Torus& torus) {
  std::vector<int> index;
  std::vector<int> edges;
  for (int rank = 0; rank < size_of(comm); ++rank) {
    for (const int one : torus.neighbours(rank)) edges.push_back(one);
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Graph_create(comm, size_of(comm), index.data(), edges.data(), 1, &made);
  std::vector<int> found(4);
  MPI_Graph_neighbors(made, rank_in(made), 4, found.data());
  expect(found == torus.neighbours(rank_in(made)), "MPI_Graph_create: neighbours");
  return made;
}

// What the communicator knows of the ranks that this one sends to and receives from.
struct Known {
  std::vector<int> from = std::vector<int>(4);
  std::vector<int> from_weights = std::vector<int>(4, -1);
  std::vector<int> to = std::vector<int>(4);
  std::vector<int> to_weights = std::vector<int>(4, -1);

  Known(MPI_Comm made, bool weighted) {
    int in = 0;
    int out = 0;
    int has_weights = 0;
    MPI_Dist_graph_neighbors_count(made, &in, &out, &has_weights);
    expect(in == 4 && out == 4 && (has_weights != 0) == weighted, "MPI_Dist_graph_neighbors_count");
    MPI_Dist_graph_neighbors(made, 4, from.data(), weighted ? from_weights.data() : MPI_UNWEIGHTED, 4, to.data(),
                             weighted ? to_weights.data() : MPI_UNWEIGHTED);
  }
};

// Each rank says what the one before it sends to. The order of neighbours is MPI's.
MPI_Comm dist_graph(MPI_Comm comm, const Torus& torus) {
  const int source = (rank_in(comm) + 1) % size_of(comm);
  constexpr int degree = 4;
  const std::vector<int> to = torus.neighbours(source);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create(comm, 1, &source, &degree, to.data(), weights(source, to).data(), MPI_INFO_NULL, 1, &made);
  Known known(made, true);
  std::vector<int> wanted = torus.neighbours(rank_in(made));
  expect(known.to_weights == weights(rank_in(made), known.to), "MPI_Dist_graph_create: weights");
  std::sort(wanted.begin(), wanted.end());
  std::sort(known.to.begin(), known.to.end());
  expect(known.to == wanted, "MPI_Dist_graph_create: neighbours");
  return made;
}

MPI_Comm adjacent(MPI_Comm comm, const Torus& torus, bool weighted) {
  const int own = rank_in(comm);
  const std::vector<int> to = torus.neighbours(own);
  const std::vector<int> from(to.rbegin(), to.rend());
  const std::vector<int> in = weights(own, from);
  const std::vector<int> out = weights(own, to);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(comm, 4, from.data(), weighted ? in.data() : MPI_UNWEIGHTED, 4, to.data(),
                                 weighted ? out.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
  const Known known(made, weighted);
  const std::vector<int> wanted = torus.neighbours(rank_in(made));
  expect(known.to == wanted, "MPI_Dist_graph_create_adjacent: neighbours, and their order");
  expect(known.from == std::vector<int>(wanted.rbegin(), wanted.rend()), "MPI_Dist_graph_create_adjacent: sources");
  if (!weighted) return made;
  expect(known.to_weights == weights(rank_in(made), known.to), "MPI_Dist_graph_create_adjacent: weights");
  expect(known.from_weights == weights(rank_in(made), known.from), "MPI_Dist_graph_create_adjacent: weights in");
  return made;
}

// Half of the ranks, as many as a grid has, and nobody else.
void fewer_places(MPI_Comm comm) {
  const int half = std::max(size_of(comm) / 2, 1);
  constexpr int period = 0;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Cart_create(comm, 1, &half, &period, 1, &made);
  int in = made == MPI_COMM_NULL ? 0 : 1;
  if (in != 0) expect(size_of(made) == half, "MPI_Cart_create: fewer places");
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  MPI_Allreduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_SUM, comm);
  expect(in == half, "MPI_Cart_create: as many ranks as places");
}

// For people and tests; frees the communicator.
void tell(const char* what, MPI_Comm comm, MPI_Comm made, const Torus& torus) {
  int moved = rank_in(comm) != rank_in(made) ? 1 : 0;
  std::array<char, 64> host = {};
  gethostname(host.data(), host.size() - 1);
  std::vector<std::array<char, 64>> hosts(static_cast<std::size_t>(size_of(made)));
  MPI_Allgather(host.data(), 64, MPI_CHAR, hosts.data(), 64, MPI_CHAR, made);
  int apart = 0;
  for (const int one : torus.neighbours(rank_in(made))) apart += hosts[static_cast<std::size_t>(one)] != host ? 1 : 0;
  std::array<int, 2> sums = {moved, apart};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT, MPI_SUM, comm);
  if (rank_in(comm) == 0) std::printf("%s: %d moved, %d apart\n", what, sums[0], sums[1]);
  MPI_Comm_free(&made);
}

// MPI is to say what is wrong, not to hang or to crash.
void wrong(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  [[maybe_unused]] const int self = rank_in(comm);
  const int none = size_of(comm);
  [[maybe_unused]] constexpr int one = 1;
  MPI_Comm made = MPI_COMM_NULL;
#ifdef OPEN_MPI  // MPICH 4.0 does not look, or ends the program by an assertion.
  const int code =
      MPI_Dist_graph_create_adjacent(comm, 1, &none, MPI_UNWEIGHTED, 1, &none, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
  expect(code != MPI_SUCCESS, "MPI_Dist_graph_create_adjacent: a neighbour that does not exist");
  expect(MPI_Dist_graph_create(comm, 1, &self, &one, &none, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made) != MPI_SUCCESS,
         "MPI_Dist_graph_create: a neighbour that does not exist");
#endif
  constexpr int period = 1;
  const int more = none + 1;
  expect(MPI_Cart_create(comm, 1, &more, &period, 1, &made) != MPI_SUCCESS, "MPI_Cart_create: too many places");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string_view what = argc > 1 ? argv[1] : "";
  MPI_Comm comm = shuffled(3);
  const Torus torus(size_of(comm));
  if (what == "wrong") {
    wrong(comm);
  } else {
    tell("cart", comm, cart(comm, torus), torus);
    tell("graph", comm, graph(comm, torus), torus);
    tell("dist_graph", comm, dist_graph(comm, torus), torus);
    tell("adjacent", comm, adjacent(comm, torus, true), torus);
    tell("unweighted", comm, adjacent(comm, torus, false), torus);
    fewer_places(comm);
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, comm);
  if (rank_in(comm) == 0) std::printf("%d faults\n", faults);
  std::fflush(stdout);
  while (what == "stay") pause();
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return faults == 0 ? 0 : 1;
}
