// Sends messages in every form that MPI has, on all kinds of communicators, and makes collective calls. Each rank
// prints what it sent to which rank of MPI_COMM_WORLD as a trace has it: "messages FROM TO:MESSAGES:BYTES ...".
//
// traced [REPEATS [plain]]: the whole several times; plain: without persistent and partitioned requests, and without
// intercommunicators.
// traced random CALLS: so many collective calls of random sizes instead.
// traced test CALLS: looks so many times for a message that never comes, and prints "tested SECONDS".

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

std::map<int, std::pair<std::int64_t, std::int64_t>> sent;
bool plain = false;

void expect(int to, std::int64_t bytes, std::int64_t times = 1) {
  sent[to].first += times;
  sent[to].second += bytes * times;
}

// Everybody sends to the next rank of a ring, in turn by each form, and receives what the one before sends.
class Ring {
 public:
  // `world` has the ranks there of those that messages go to.
  Ring(MPI_Comm comm, int to, int from, int to_in_world) : comm_(comm), to_(to), from_(from), world_(to_in_world) {}

  void send_in_all_forms() {
    blocking(MPI_Send);
    blocking(MPI_Ssend);
    buffered();
    ready();
    non_blocking(MPI_Isend);
    non_blocking(MPI_Issend);
    persistent(MPI_Send_init);
    persistent(MPI_Ssend_init);
    at_once();
#if QUADRILLE_MPI_LARGE_COUNTS
    large_counts();
#endif
#if QUADRILLE_MPI_ISENDRECV
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isendrecv(data_.data(), 7, MPI_INT, to_, 0, more_.data(), 100, MPI_INT, from_, 0, comm_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(world_, 28);
#endif
#if QUADRILLE_MPI_PARTITIONED
    if (!plain) partitioned();
#endif
  }

 private:
  template <class Function>
  void blocking(Function* function) {
    MPI_Request receive = posted();
    function(data_.data(), 3, MPI_INT, to_, 0, comm_);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    expect(world_, 12);
    function(data_.data(), 3, MPI_INT, MPI_PROC_NULL, 0, comm_);
  }
  template <class Function>
  void non_blocking(Function* function) {
    std::array<MPI_Request, 2> both = {posted(), MPI_REQUEST_NULL};
    function(data_.data(), 5, MPI_INT, to_, 0, comm_, &both[1]);
    MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE);
    expect(world_, 20);
  }
  void buffered() {
    std::vector<char> room(1000 + 4 * MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
    blocking(MPI_Bsend);
    non_blocking(MPI_Ibsend);
    persistent(MPI_Bsend_init);
    void* place = nullptr;
    int size = 0;
    MPI_Buffer_detach(static_cast<void*>(&place), &size);
  }
  // A ready send may start only when its receive is posted: a message from the next rank says so.
  void ready() {
    for (const bool blocks : {true, false}) {
      MPI_Request receive = posted();
      MPI_Request told = MPI_REQUEST_NULL;
      MPI_Irecv(nullptr, 0, MPI_INT, to_, 1, comm_, &told);
      MPI_Send(nullptr, 0, MPI_INT, from_, 1, comm_);
      MPI_Wait(&told, MPI_STATUS_IGNORE);
      MPI_Request send = MPI_REQUEST_NULL;
      if (blocks) {
        MPI_Rsend(data_.data(), 2, MPI_INT, to_, 0, comm_);
      } else {
        MPI_Irsend(data_.data(), 2, MPI_INT, to_, 0, comm_, &send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
      }
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      expect(world_, 8);
    }
    expect(from_in_world(), 0, 2);
  }
  template <class Function>
  void persistent(Function* function) {
    if (plain) return;
    std::array<MPI_Request, 2> both = {};
    MPI_Recv_init(more_.data(), 100, MPI_INT, from_, 0, comm_, &both[0]);
    function(data_.data(), 11, MPI_INT, to_, 0, comm_, &both[1]);
    for (int times = 0; times < 3; ++times) {
      if (times == 0) {
        MPI_Start(&both[0]);
        MPI_Start(&both[1]);
      } else {
        MPI_Startall(2, both.data());
      }
      MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    expect(world_, 44, 3);
  }
  void at_once() {
    MPI_Sendrecv(data_.data(), 13, MPI_INT, to_, 0, more_.data(), 100, MPI_INT, from_, 0, comm_, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(data_.data(), 1, pairs(), to_, 0, from_, 0, comm_, MPI_STATUS_IGNORE);
    expect(world_, 52);
    expect(world_, 24);
  }
#if QUADRILLE_MPI_LARGE_COUNTS
  void large_counts() {
    MPI_Request receive = posted();
    MPI_Send_c(data_.data(), 3, MPI_INT, to_, 0, comm_);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    std::array<MPI_Request, 2> both = {posted(), MPI_REQUEST_NULL};
    MPI_Isend_c(data_.data(), 5, MPI_INT, to_, 0, comm_, &both[1]);
    MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE);
    expect(world_, 12);
    expect(world_, 20);
  }
#endif
#if QUADRILLE_MPI_PARTITIONED
  void partitioned() {
    std::array<MPI_Request, 2> both = {};
    MPI_Precv_init(more_.data(), 2, 6, MPI_INT, from_, 2, comm_, MPI_INFO_NULL, &both[0]);
    MPI_Psend_init(data_.data(), 2, 6, MPI_INT, to_, 2, comm_, MPI_INFO_NULL, &both[1]);
    MPI_Startall(2, both.data());
    MPI_Pready(0, both[1]);
    MPI_Pready(1, both[1]);
    MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    expect(world_, 48);
  }
#endif
  MPI_Request posted() {
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Irecv(more_.data(), 100, MPI_INT, from_, 0, comm_, &receive);
    return receive;
  }
  int from_in_world() const {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    int inter = 0;
    int rank = 0;
    MPI_Comm_test_inter(comm_, &inter);
    inter != 0 ? MPI_Comm_remote_group(comm_, &group) : MPI_Comm_group(comm_, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &from_, world, &rank);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return rank;
  }
  // Six integers with gaps.
  static MPI_Datatype pairs() {
    static MPI_Datatype type = [] {
      MPI_Datatype made = MPI_DATATYPE_NULL;
      MPI_Type_vector(3, 2, 5, MPI_INT, &made);
      MPI_Type_commit(&made);
      return made;
    }();
    return type;
  }

  MPI_Comm comm_;
  int to_;
  int from_;
  int world_;
  std::vector<int> data_ = std::vector<int>(100);
  std::vector<int> more_ = std::vector<int>(100);
};

void send_everywhere(int rank, int ranks) {
  Ring(MPI_COMM_WORLD, (rank + 1) % ranks, (rank + ranks - 1) % ranks, (rank + 1) % ranks).send_in_all_forms();
  // Ranks in the opposite order: the next one there is the one before here.
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  const int place = ranks - 1 - rank;
  Ring(reversed, (place + 1) % ranks, (place + ranks - 1) % ranks, (rank + ranks - 1) % ranks).send_in_all_forms();
  MPI_Comm_free(&reversed);
  if (ranks % 2 != 0 || plain) return;
  // Even and odd ranks, pair by pair.
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
  Ring(between, rank / 2, rank / 2, rank ^ 1).send_in_all_forms();
  MPI_Barrier(between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

void second(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += 0 * static_cast<int*>(in)[i];
}

void call_collectives(int rank, int ranks) {
  const auto many = static_cast<std::size_t>(ranks);
  std::vector<int> data(4000 * many);
  std::vector<int> more(4000 * many);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(data.data(), more.data(), 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Op not_commutative = MPI_OP_NULL;
  MPI_Op_create(second, 0, &not_commutative);
  MPI_Allreduce(data.data(), more.data(), 4, MPI_INT, not_commutative, MPI_COMM_WORLD);
  MPI_Op_free(&not_commutative);
  for (int root = 0; root < ranks; ++root) MPI_Bcast(data.data(), 6, MPI_INT, root, MPI_COMM_WORLD);
  // More sizes than are told apart.
  for (int count = 1; count <= 2000; ++count)
    MPI_Reduce(data.data(), more.data(), count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(data.data(), 2, MPI_INT, more.data(), 2, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  // Each rank has something for the next one alone.
  std::vector<int> out(many);
  std::vector<int> in(many);
  std::vector<int> displacements(many);
  out[static_cast<std::size_t>((rank + 1) % ranks)] = rank + 1;
  in[static_cast<std::size_t>((rank + ranks - 1) % ranks)] = (rank + ranks - 1) % ranks + 1;
  MPI_Alltoallv(data.data(), out.data(), displacements.data(), MPI_INT, more.data(), in.data(), displacements.data(),
                MPI_INT, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < many; ++i) {
    in[i] = static_cast<int>(i);
    displacements[i] = static_cast<int>(i * i);
  }
  MPI_Gatherv(data.data(), rank, MPI_INT, more.data(), in.data(), displacements.data(), MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatterv(data.data(), in.data(), displacements.data(), MPI_INT, more.data(), rank, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Comm line = MPI_COMM_NULL;
  const int open_ends = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &open_ends, 0, &line);
  MPI_Neighbor_alltoall(data.data(), 3, MPI_INT, more.data(), 3, MPI_INT, line);
  MPI_Comm_free(&line);
#if QUADRILLE_MPI_PERSISTENT
  MPI_Bcast_init(data.data(), 9, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 5; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
#endif
}

// Alone, a rank is done at once, whatever the size.
void call_at_random(int calls) {
  std::mt19937 random(7);
  std::vector<int> data(1 << 18);
  for (int i = 0; i < calls; ++i) {
    const int count = static_cast<int>(random() % (1U << (random() % 19)));
    switch (random() % 4) {
      case 0:
        MPI_Bcast(data.data(), count, MPI_INT, 0, MPI_COMM_SELF);
        break;
      case 1:
        MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        break;
      case 2:
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), count, MPI_INT, MPI_COMM_SELF);
        break;
      default:
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), count, MPI_INT, MPI_COMM_SELF);
    }
  }
}

void test_for_nothing(int calls) {
  const double start = MPI_Wtime();
  int found = 0;
  for (int i = 0; i < calls; ++i) MPI_Iprobe(0, 7, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
  std::printf("tested %.6f\n", MPI_Wtime() - start);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string_view what = argc > 2 ? argv[1] : "";
  if (what == "random") call_at_random(std::atoi(argv[2]));
  if (what == "test") test_for_nothing(std::atoi(argv[2]));
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 1;
  plain = argc > 2;
  for (int i = 0; i < repeats; ++i) {
    send_everywhere(rank, ranks);
    call_collectives(rank, ranks);
  }
  std::string line = "messages " + std::to_string(rank);
  for (const auto& [to, traffic] : sent) {
    line += ' ' + std::to_string(to) + ':' + std::to_string(traffic.first) + ':' + std::to_string(traffic.second);
  }
  line += '\n';  // in one piece, or launchers mix those of several ranks
  std::fwrite(line.data(), 1, line.size(), stdout);
  MPI_Finalize();
}
