#include "bench/meeting.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "bench/waits.hpp"

namespace quadrille::bench {

namespace {

using engine::check;

constexpr int request_tag = 1;  // bytes that will follow; 0: answer at once
constexpr int data_tag = 2;
constexpr int reply_tag = 3;
constexpr std::int64_t the_end = -1;

constexpr int short_messages = 20;
constexpr double short_enough = 0.02;  // seconds for all of them, where ranks share cores
// A link that lets a few KiB pass at once after a pause must not look faster than it is.
constexpr std::int64_t least_bytes = 64 * 1024;
constexpr std::int64_t most_bytes = 4 * 1024 * 1024;
constexpr double long_enough = 0.01;  // seconds
constexpr int long_messages = 3;

double now_here() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

double Meeting::timed(int peer, std::int64_t bytes) {
  data_.resize(static_cast<std::size_t>(std::max(bytes, static_cast<std::int64_t>(data_.size()))));
  std::array<MPI_Request, 3> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::int64_t reply = 0;
  const double begin = now_here();
  check(PMPI_Irecv(&reply, 1, MPI_INT64_T, peer, reply_tag, comm_, requests.data()), "MPI_Irecv");
  check(PMPI_Isend(&bytes, 1, MPI_INT64_T, peer, request_tag, comm_, &requests[1]), "MPI_Isend");
  if (bytes > 0) {
    check(PMPI_Isend(data_.data(), static_cast<int>(bytes), MPI_BYTE, peer, data_tag, comm_, &requests[2]),
          "MPI_Isend");
  }
  finish(requests);
  return now_here() - begin;
}

cost::Between Meeting::measure(int peer) {
  timed(peer, 0);  // MPI connects ranks when they first talk to each other
  double round_trip = timed(peer, 0);
  const double begin = now_here();
  for (int i = 0; i < short_messages && now_here() - begin < short_enough; ++i)
    round_trip = std::min(round_trip, timed(peer, 0));
  std::int64_t bytes = least_bytes;
  while (timed(peer, bytes) < long_enough && bytes < most_bytes) bytes *= 2;
  std::array<double, long_messages> times = {};
  for (double& time : times) time = timed(peer, bytes);
  std::sort(times.begin(), times.end());
  const std::int64_t end = the_end;
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Isend(&end, 1, MPI_INT64_T, peer, request_tag, comm_, &request), "MPI_Isend");
  finish(request);
  const double time = times[long_messages / 2];
  // Where ranks share cores, the shortest round trip may still be a long one.
  return {round_trip / 2, static_cast<double>(bytes) / (time - std::min(round_trip, time / 10))};
}

void Meeting::answer(int peer) {
  for (;;) {
    std::int64_t bytes = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Irecv(&bytes, 1, MPI_INT64_T, peer, request_tag, comm_, &request), "MPI_Irecv");
    finish(request);
    if (bytes == the_end) return;
    if (bytes > 0) {
      data_.resize(static_cast<std::size_t>(std::max(bytes, static_cast<std::int64_t>(data_.size()))));
      check(PMPI_Irecv(data_.data(), static_cast<int>(bytes), MPI_BYTE, peer, data_tag, comm_, &request), "MPI_Irecv");
      finish(request);
    }
    check(PMPI_Isend(&bytes, 1, MPI_INT64_T, peer, reply_tag, comm_, &request), "MPI_Isend");
    finish(request);
  }
}

}  // namespace quadrille::bench
