#include "interpose/report.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace quadrille::interpose {

namespace {

// The same on all ranks.
std::string report_path() {
  int id = static_cast<int>(getpid());
  MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const char* const folder = std::getenv("TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/quadrille-report-test-" + std::to_string(id) + ".json";
}

profile::Profile read_and_remove(const std::string& path) {
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  unlink(path.c_str());
  return profile::from_json(text);
}

const std::vector<profile::Learned> learned = {{.communicator = "row \"1\"",
                                                .ranks = 4,
                                                .nodes = 2,
                                                .collective = "allreduce",
                                                .from = 8,
                                                .to = 64,
                                                .calls = 1000,
                                                .replaced = 900,
                                                .verdict = "ring",
                                                .seconds = 1e-3,
                                                .native_seconds = 3e-3,
                                                .tried = {{"ring", 1e-3}, {"native", 3e-3}},
                                                .saved_seconds = 1.8,
                                                .start = "remembered"}};

TEST(Report, HasTheCallsOfAllRanksAndWhatWasLearned) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string path = report_path();
  Report report;
  Counts counts{};
  report.start();
  const int value = 0;
  const detail::UserBuffer buffer{.address = &value, .count = 1, .type = MPI_INT};
  const detail::Call call = detail::reduction_call(Collective::allreduce, buffer, buffer, MPI_SUM);
  for (int i = 0; i < 3; ++i) report.add(call, MPI_COMM_WORLD, MPI_SUCCESS, 0.5 * (rank + 1), nullptr);
  report.add(call, MPI_COMM_NULL, MPI_ERR_COMM, 0.25, nullptr);
  counts[static_cast<std::size_t>(Collective::allreduce)][static_cast<std::size_t>(Outcome::not_faster)] = 3;
  report.write(path, counts, Waits::yielding, learned);
  if (rank != 0) return;

  const profile::Profile read = read_and_remove(path);
  EXPECT_EQ(read.ranks, ranks);
  EXPECT_EQ(read.nodes, 1);
  EXPECT_EQ(read.waits, "yielding");
  EXPECT_GT(read.wall_seconds, 0);
  ASSERT_EQ(read.communicators.size(), 2U);
  EXPECT_EQ(read.communicators[0].title(), "MPI_COMM_WORLD");
  EXPECT_EQ(read.communicators[1].title(), "calls that failed");
  ASSERT_EQ(read.calls.size(), 2U);
  const profile::Calls& failed = read.calls[0];  // without a size
  EXPECT_EQ(failed.communicator, 1U);
  EXPECT_EQ(failed.calls, ranks);
  const profile::Calls& row = read.calls[1];
  EXPECT_EQ(row.calls, 3 * ranks);
  EXPECT_EQ(row.bytes, 3 * ranks * static_cast<int>(sizeof(int)));
  EXPECT_DOUBLE_EQ(row.mean_seconds, 0.75 * (ranks + 1));
  EXPECT_DOUBLE_EQ(row.largest_seconds, 1.5 * ranks);
  ASSERT_EQ(read.passed.size(), 1U);
  EXPECT_EQ(read.passed[0].calls, 3 * ranks);
  ASSERT_EQ(read.learned.size(), 1U);
  const profile::Learned& one = read.learned[0];
  EXPECT_EQ(one.communicator, "row \"1\"");
  EXPECT_EQ(one.collective, "allreduce");
  EXPECT_EQ(one.tried.size(), 2U);
  EXPECT_EQ(one.tried[0].name, "ring");
  EXPECT_EQ(one.start, "remembered");
  EXPECT_EQ(saved_text(read), "saved about 1.8 s of 3 s against the MPI's own as measured");
}

TEST(Report, KeepsTheNameThatACommunicatorHadWhenItWasFreed) {
  const std::string path = report_path();
  Report report;
  report.start();
  detail::Call barrier;
  barrier.collective = Collective::barrier;
  for (int i = 0; i < 3; ++i) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    report.add(barrier, copy, MPI_SUCCESS, 0.5, nullptr);
    MPI_Comm_set_name(copy, "step");
    report.add(barrier, copy, MPI_SUCCESS, 0.5, nullptr);
    MPI_Comm_free(&copy);
  }
  report.write(path, {}, Waits::mpis);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  const profile::Profile read = read_and_remove(path);
  ASSERT_EQ(read.communicators.size(), 1U);
  EXPECT_EQ(read.communicators[0].name, "step");
  EXPECT_EQ(read.communicators[0].count, 3);
  EXPECT_EQ(read.calls.at(0).calls, 6 * read.ranks);
}

}  // namespace

}  // namespace quadrille::interpose
