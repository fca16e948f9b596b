// Several threads, each with collectives on a communicator of its own.

#include <gtest/gtest.h>

#include <numeric>
#include <quadrille/quadrille.hpp>
#include <thread>
#include <vector>

namespace quadrille {

namespace {

void work(Communicator& comm, int thread) {
  for (int round = 0; round < 200; ++round) {
    std::vector<int> data(static_cast<std::size_t>(1 + 50 * thread), comm.rank() + round);
    std::vector<int> sum(data.size());
    Pending pending = comm.iallreduce(data, sum, std::plus{});
    int root = comm.rank() == round % comm.size() ? round : -1;
    comm.bcast(std::span(&root, 1), round % comm.size());
    pending.wait();
    ASSERT_EQ(root, round);
    ASSERT_EQ(sum.back(), comm.size() * round + comm.size() * (comm.size() - 1) / 2);
  }
}

TEST(Threads, MayEachHaveACommunicator) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI was built without MPI_THREAD_MULTIPLE";
  std::vector<Communicator> comms;
  for (int i = 0; i < 4; ++i) comms.emplace_back(MPI_COMM_WORLD);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&comms, i] { work(comms[static_cast<std::size_t>(i)], i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

}  // namespace quadrille
