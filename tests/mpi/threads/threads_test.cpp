// Several threads with collectives of all kinds: each on a communicator of its own, or all on one, in an order they
// agree on. QUADRILLE_TEST_SECONDS says how long; MPI_THREAD_MULTIPLE is asked for.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <quadrille/quadrille.hpp>
#include <thread>
#include <vector>

namespace quadrille {

namespace {

constexpr int threads = 4;

std::vector<int> filled(std::size_t count, int value) {
  return std::vector<int>(count, value);
}

std::size_t length(int thread, int round) {
  return static_cast<std::size_t>(1 + (thread * 37 + round * 101) % 700);
}

// One collective in flight, with its memory and what it must bring.
struct Work {
  std::vector<int> input = {};
  std::vector<int> output = {};
  std::vector<int> expected = {};
  std::optional<Pending> pending = {};
};

// NOLINTNEXTLINE(readability-function-size): one case a collective
std::unique_ptr<Work> started(Communicator& comm, int thread, int round) {
  const std::size_t n = length(thread, round);
  const int p = comm.size();
  const int root = round % p;
  const auto blocks = [&](auto&& value_of) {
    std::vector<int> all;
    for (int rank = 0; rank < p; ++rank) all.insert(all.end(), n, value_of(rank));
    return all;
  };
  auto work = std::make_unique<Work>();
  switch (round % 6) {
    case 0:
      work->input = filled(n, comm.rank() + round);
      work->output = filled(n, -1);
      work->expected = filled(n, p * round + p * (p - 1) / 2);
      work->pending.emplace(comm.iallreduce(work->input, work->output, std::plus{}));
      break;
    case 1:
      work->output = filled(n, comm.rank() == root ? round : -1);
      work->expected = filled(n, round);
      work->pending.emplace(comm.ibcast(work->output, root));
      break;
    case 2:
      work->input = filled(n, comm.rank() * 1000 + round);
      work->output = blocks([](int) { return -1; });
      work->expected = blocks([&](int rank) { return rank * 1000 + round; });
      work->pending.emplace(comm.iallgather(work->input, work->output));
      break;
    case 3:
      work->input = blocks([&](int rank) { return comm.rank() * 1000 + rank; });
      work->output = blocks([](int) { return -1; });
      work->expected = blocks([&](int rank) { return rank * 1000 + comm.rank(); });
      work->pending.emplace(comm.ialltoall(work->input, work->output));
      break;
    case 4:
      work->input = filled(n, comm.rank() + 1);
      work->output = filled(n, -1);
      work->expected = filled(n, (comm.rank() + 1) * (comm.rank() + 2) / 2);
      work->pending.emplace(comm.iscan(work->input, work->output, std::plus{}));
      break;
    default:
      work->input = filled(n, comm.rank());
      work->output = filled(n, -1);
      work->expected = filled(n, comm.rank() == root ? p * (p - 1) / 2 : -1);
      work->pending.emplace(comm.ireduce(work->input, work->output, std::plus{}, root));
  }
  return work;
}

void finish(Work& work) {
  work.pending->wait();
  ASSERT_EQ(work.output, work.expected);
}

double seconds_wanted() {
  const char* text = std::getenv("QUADRILLE_TEST_SECONDS");
  return text ? std::atof(text) : 1.0;
}

bool may_use_threads() {
  int level = 0;
  MPI_Query_thread(&level);
  return level >= MPI_THREAD_MULTIPLE;
}

// Calls round(number) until the time is up; all ranks make the same number of rounds.
template <class Round>
void for_a_while(Communicator& clock, double seconds, Round&& round) {
  const auto begin = std::chrono::steady_clock::now();
  for (int number = 0;; number += 50) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    int go_on = passed.count() < seconds ? 1 : 0;
    clock.bcast(std::span(&go_on, 1), 0);
    if (go_on == 0) return;
    for (int i = number; i < number + 50; ++i) round(i);
  }
}

TEST(Threads, MayEachHaveACommunicator) {
  if (!may_use_threads()) GTEST_SKIP() << "this MPI was built without MPI_THREAD_MULTIPLE";
  std::vector<Communicator> comms;
  for (int i = 0; i < threads; ++i) comms.emplace_back(MPI_COMM_WORLD);
  std::vector<std::thread> team;
  for (int thread = 0; thread < threads; ++thread) {
    team.emplace_back([&comms, thread] {
      Communicator& comm = comms[static_cast<std::size_t>(thread)];
      for_a_while(comm, seconds_wanted() / 2, [&](int round) {
        const auto first = started(comm, thread, round);
        const auto second = started(comm, thread, round + 1);
        finish(*second);
        finish(*first);
      });
    });
  }
  for (std::thread& one : team) one.join();
}

// Threads start their collectives one after another, in the same order on every rank, and wait all at once.
TEST(Threads, MayShareACommunicatorIfTheirCallsAreInOrder) {
  if (!may_use_threads()) GTEST_SKIP() << "this MPI was built without MPI_THREAD_MULTIPLE";
  Communicator comm(MPI_COMM_WORLD);
  Communicator clock(MPI_COMM_WORLD);
  for_a_while(clock, seconds_wanted() / 2, [&](int round) {
    std::mutex mutex;
    std::condition_variable turned;
    int turn = 0;
    std::vector<std::thread> team;
    for (int thread = 0; thread < threads; ++thread) {
      team.emplace_back([&, thread] {
        std::unique_ptr<Work> work;
        {
          std::unique_lock lock(mutex);
          turned.wait(lock, [&] { return turn == thread; });
          work = started(comm, thread, round * threads + thread);
          ++turn;
        }
        turned.notify_all();
        finish(*work);
      });
    }
    for (std::thread& one : team) one.join();
  });
}

// A thread of the library's own advances what is pending: the program itself never tests or waits.
TEST(Threads, AProgressThreadNeedsNoHelp) {
  if (!may_use_threads()) GTEST_SKIP() << "this MPI was built without MPI_THREAD_MULTIPLE";
  setenv("QUADRILLE_PROGRESS", "1", 1);
  Communicator comm(MPI_COMM_WORLD);
  unsetenv("QUADRILLE_PROGRESS");
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> done = false;
    const auto work = started(comm, 3, round);
    work->pending->then([&done] { done = true; });
    const auto begin = std::chrono::steady_clock::now();
    while (!done && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) std::this_thread::yield();
    ASSERT_TRUE(done);
    finish(*work);
  }
}

}  // namespace

}  // namespace quadrille
