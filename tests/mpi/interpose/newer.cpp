// Calls that only newer MPIs have: newer persistent|large|sessions. Says so where this one has them not.

#include <mpi.h>

#include <cstdio>
#include <string_view>

namespace {

int missing() {
  std::puts("not in this MPI");
  return 0;
}

[[maybe_unused]] int with_world(int (*calls)(int rank)) {
  int rank = 0;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int faults = calls(rank);
  if (rank == 0) std::printf("%d faults\n", faults);
  MPI_Finalize();
  return faults;
}

#if QUADRILLE_MPI_PERSISTENT
// One of each rank.
int persistent(int rank) {
  int value = rank == 0 ? 7 : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return value == 7 ? 0 : 1;
}
#endif

#if QUADRILLE_MPI_LARGE_COUNTS
// One allreduce that can be replaced, one bcast that is passed through.
int large(int rank) {
  int ranks = 0;
  const int one = 1;
  MPI_Allreduce_c(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int value = rank == 0 ? ranks : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast_c(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return value == size ? 0 : 1;
}
#endif

#if QUADRILLE_MPI_SESSIONS
int sessions() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "quadrille", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int sum = 0;
  int faults = 0;
  for (int i = 0; i < 50; ++i) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != size * (size - 1) / 2) ++faults;
  }
  if (rank == 0) std::printf("%d faults\n", faults);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return faults;
}
#endif

}  // namespace

int main(int, char** argv) {
  [[maybe_unused]] const std::string_view what = argv[1];
#if QUADRILLE_MPI_PERSISTENT
  if (what == "persistent") return with_world(persistent);
#endif
#if QUADRILLE_MPI_LARGE_COUNTS
  if (what == "large") return with_world(large);
#endif
#if QUADRILLE_MPI_SESSIONS
  if (what == "sessions") return sessions();
#endif
  return missing();
}
