#include "bench/clocks.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>

#include "bench/waits.hpp"
#include "engine/mpi.hpp"

namespace quadrille::bench {

namespace {

using engine::check;

constexpr int exchanges = 12;  // the best of them count
// At first, so that the drift is known, too.
constexpr int first_bursts = 4;
constexpr double between_first_bursts = 0.5;  // seconds

void send(double value, int to, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Isend(&value, 1, MPI_DOUBLE, to, 0, comm, &request), "MPI_Isend");
  finish(request);
}

double receive(int from, MPI_Comm comm) {
  double value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Irecv(&value, 1, MPI_DOUBLE, from, 0, comm, &request), "MPI_Irecv");
  finish(request);
  return value;
}

}  // namespace

Clocks::Clocks(MPI_Comm comm) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node_), "MPI_Comm_split_type");
  int place = 0;
  check(PMPI_Comm_rank(node_, &place), "MPI_Comm_rank");
  check(PMPI_Comm_size(node_, &neighbours_), "MPI_Comm_size");
  check(PMPI_Comm_split(comm, place == 0 ? 0 : MPI_UNDEFINED, rank, &leaders_), "MPI_Comm_split");
  if (leaders_ != MPI_COMM_NULL) check(PMPI_Comm_size(leaders_, &nodes_), "MPI_Comm_size");
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Ibcast(&nodes_, 1, MPI_INT, 0, node_, &request), "MPI_Ibcast");
  finish(request);
  for (int burst = 0; nodes_ > 1 && burst < first_bursts; ++burst) {
    if (burst > 0) wait_until(now() + between_first_bursts, false);
    sync();
  }
}

Clocks::~Clocks() {
  for (MPI_Comm* comm : {&node_, &leaders_}) {
    if (*comm != MPI_COMM_NULL) PMPI_Comm_free(comm);
  }
}

double Clocks::local() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Clocks::sync() {
  if (nodes_ == 1) return;
  if (leaders_ != MPI_COMM_NULL) {
    int leader = 0;
    check(PMPI_Comm_rank(leaders_, &leader), "MPI_Comm_rank");
    if (leader != 0) {
      ask();
    } else {
      for (int other = 1; other < nodes_; ++other) answer(other);
    }
  }
  std::array<double, 4> shared = {line_.local_origin, line_.reference_origin, line_.speed, uncertainty_};
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Ibcast(shared.data(), 4, MPI_DOUBLE, 0, node_, &request), "MPI_Ibcast");
  finish(request);
  line_ = {shared[0], shared[1], shared[2]};
  uncertainty_ = shared[3];
}

// Rank 0 answers one leader after another; the first question may wait for its turn, and does not count then.
void Clocks::ask() {
  for (int i = 0; i < exchanges; ++i) {
    const double before = local();
    send(before, 0, leaders_);
    const double remote = receive(0, leaders_);
    clock_.add({before, remote, local()});
  }
  clock_.settle();
  const double now = local();
  line_ = {now, clock_.to_reference(now), 1 + clock_.drift()};
  uncertainty_ = clock_.uncertainty();
}

void Clocks::answer(int leader) const {
  for (int i = 0; i < exchanges; ++i) {
    receive(leader, leaders_);
    send(local(), leader, leaders_);
  }
}

void Clocks::wait_until(double time, bool own_core) const {
  const double end = from_reference(time);
  // One that sleeps may wake up on a core where another one spins, and wait for that for milliseconds.
  if (!own_core && end > local()) {
    const double whole = std::floor(end);
    const timespec until = {.tv_sec = static_cast<time_t>(whole), .tv_nsec = static_cast<long>((end - whole) * 1e9)};
    // To the microsecond, also where whoever started us lets sleeps be coarse.
    const int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack), 0, 0, 0);
  }
  while (local() < end) {
  }
}

}  // namespace quadrille::bench
