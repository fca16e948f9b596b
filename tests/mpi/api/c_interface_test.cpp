// The C interface: every function once, against what it must bring; its requests and its errors.

#include <gtest/gtest.h>
#include <quadrille/quadrille.h>

#include <numeric>
#include <string>
#include <vector>

namespace quadrille::test {

namespace {

class CInterface : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(quadrille_comm_create(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
    quadrille_comm_rank(comm, &rank);
    quadrille_comm_size(comm, &size);
    const auto p = static_cast<std::size_t>(size);
    mine.assign(p, rank + 1);
    result.assign(p, -1);
    ones.assign(p, 1);
    displacements.resize(p);
    std::iota(displacements.begin(), displacements.end(), MPI_Aint{0});
    bytes.resize(p);
    for (std::size_t i = 0; i < p; ++i) bytes[i] = static_cast<MPI_Aint>(i * sizeof(int));
    types.assign(p, MPI_INT);
    for (int i = 1; i <= size; ++i) ranks.push_back(i);
    total = size * (size + 1) / 2;
  }
  void TearDown() override {
    EXPECT_EQ(quadrille_comm_free(&comm), MPI_SUCCESS);
    EXPECT_EQ(comm, nullptr);
  }

  quadrille_comm comm = nullptr;
  int rank = 0;
  int size = 0;
  int total = 0;
  std::vector<int> mine;
  std::vector<int> result;
  std::vector<int> ranks;
  std::vector<MPI_Count> ones;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Aint> bytes;
  std::vector<MPI_Datatype> types;
};

// Rank r sends r + 1 + d elements to rank d, and all of it lies in one buffer.
TEST_F(CInterface, MovesDataWithinOneBuffer) {
  std::vector<MPI_Count> send;
  std::vector<MPI_Count> receive;
  for (int peer = 0; peer < size; ++peer) {
    send.push_back(rank + 1 + peer);
    receive.push_back(peer + 1 + rank);
  }
  const MPI_Count all = std::accumulate(send.begin(), send.end(), MPI_Count{0});
  std::vector<int> data(static_cast<std::size_t>(all), rank);
  const auto check = [&] {
    std::size_t next = 0;
    for (int peer = 0; peer < size; ++peer) {
      for (MPI_Count i = 0; i < receive[static_cast<std::size_t>(peer)]; ++i) EXPECT_EQ(data[next++], peer);
    }
    data.assign(data.size(), rank);
  };
  quadrille_options options = {};
  options.memory = 128 + rank;
  EXPECT_EQ(
      quadrille_alltoallv_in_place(data.data(), send.data(), nullptr, receive.data(), nullptr, MPI_INT, comm, &options),
      MPI_SUCCESS);
  check();
  quadrille_request request = nullptr;
  EXPECT_EQ(quadrille_ialltoallv_in_place(data.data(), send.data(), nullptr, receive.data(), nullptr, MPI_INT, comm,
                                          nullptr, &request),
            MPI_SUCCESS);
  EXPECT_EQ(quadrille_wait(&request), MPI_SUCCESS);
  check();
  EXPECT_EQ(quadrille_alltoallv_in_place_init(data.data(), send.data(), nullptr, receive.data(), nullptr, MPI_INT, comm,
                                              nullptr, &request),
            MPI_SUCCESS);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(quadrille_start(request), MPI_SUCCESS);
    EXPECT_EQ(quadrille_wait(&request), MPI_SUCCESS);
    check();
  }
  EXPECT_EQ(quadrille_request_free(&request), MPI_SUCCESS);
  if (rank == size - 1) receive[0] += 1;
  EXPECT_EQ(
      quadrille_alltoallv_in_place(data.data(), send.data(), nullptr, receive.data(), nullptr, MPI_INT, comm, nullptr),
      MPI_ERR_TRUNCATE);
  EXPECT_NE(std::string(quadrille_error_text()).find("expects another number"), std::string::npos);
  const MPI_Count* counts = rank == size - 1 ? nullptr : send.data();
  EXPECT_EQ(quadrille_alltoallv_in_place(data.data(), counts, nullptr, send.data(), nullptr, MPI_INT, comm, nullptr),
            MPI_ERR_ARG);
  EXPECT_NE(std::string(quadrille_error_text()).find("has 0 counts"), std::string::npos);
}

// Every second integer moves, the others stay.
TEST_F(CInterface, MovesElementsWithGaps) {
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spread);
  MPI_Type_commit(&spread);
  std::vector<MPI_Aint> reversed(displacements.rbegin(), displacements.rend());
  std::vector<int> data(2 * static_cast<std::size_t>(size), -1);
  for (std::size_t i = 0; i < data.size(); i += 2) data[i] = rank;
  EXPECT_EQ(quadrille_alltoallv_in_place(data.data(), ones.data(), displacements.data(), ones.data(), reversed.data(),
                                         spread, comm, nullptr),
            MPI_SUCCESS);
  for (int peer = 0; peer < size; ++peer) {
    const auto at = 2 * static_cast<std::size_t>(size - 1 - peer);
    EXPECT_EQ(data[at], peer);
    EXPECT_EQ(data[at + 1], -1);
  }
  MPI_Type_free(&spread);
}

TEST_F(CInterface, HasEveryCollective) {
  const int last = size - 1;
  EXPECT_EQ(quadrille_barrier(comm, nullptr), MPI_SUCCESS);

  int value = rank == last ? 5 : 0;
  EXPECT_EQ(quadrille_bcast(&value, 1, MPI_INT, last, comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(value, 5);

  value = -1;
  EXPECT_EQ(quadrille_reduce(mine.data(), &value, 1, MPI_INT, MPI_SUM, last, comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(value, rank == last ? total : -1);
  EXPECT_EQ(quadrille_allreduce(mine.data(), &value, 1, MPI_INT, MPI_SUM, comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(value, total);
  EXPECT_EQ(quadrille_scan(mine.data(), &value, 1, MPI_INT, MPI_SUM, comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(value, (rank + 1) * (rank + 2) / 2);
  value = 0;
  EXPECT_EQ(quadrille_exscan(mine.data(), &value, 1, MPI_INT, MPI_SUM, comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(value, rank * (rank + 1) / 2);
  EXPECT_EQ(quadrille_reduce_scatter(mine.data(), &value, ones.data(), MPI_INT, MPI_SUM, comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(value, total);
  value = -1;
  EXPECT_EQ(quadrille_reduce_scatter_block(mine.data(), &value, 1, MPI_INT, MPI_SUM, comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(value, total);
}

TEST_F(CInterface, MovesBlocks) {
  const auto expect = [&](int code) {
    EXPECT_EQ(code, MPI_SUCCESS) << quadrille_error_text();
    EXPECT_EQ(result, ranks);
    result.assign(result.size(), -1);
  };
  expect(quadrille_allgather(mine.data(), 1, MPI_INT, result.data(), 1, MPI_INT, comm, nullptr));
  expect(quadrille_allgatherv(mine.data(), 1, MPI_INT, result.data(), ones.data(), displacements.data(), MPI_INT, comm,
                              nullptr));
  expect(quadrille_alltoall(mine.data(), 1, MPI_INT, result.data(), 1, MPI_INT, comm, nullptr));
  expect(quadrille_alltoallv(mine.data(), ones.data(), displacements.data(), MPI_INT, result.data(), ones.data(),
                             displacements.data(), MPI_INT, comm, nullptr));
  expect(quadrille_alltoallw(mine.data(), ones.data(), bytes.data(), types.data(), result.data(), ones.data(),
                             bytes.data(), types.data(), comm, nullptr));
  EXPECT_EQ(quadrille_gather(mine.data(), 1, MPI_INT, result.data(), 1, MPI_INT, 0, comm, nullptr), MPI_SUCCESS);
  if (rank == 0) {
    EXPECT_EQ(result, ranks);
  }
  result.assign(result.size(), -1);
  EXPECT_EQ(quadrille_gatherv(mine.data(), 1, MPI_INT, result.data(), ones.data(), displacements.data(), MPI_INT, 0,
                              comm, nullptr),
            MPI_SUCCESS);
  if (rank == 0) {
    EXPECT_EQ(result, ranks);
  }
  int value = 0;
  EXPECT_EQ(quadrille_scatter(ranks.data(), 1, MPI_INT, &value, 1, MPI_INT, 0, comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(value, rank + 1);
  value = 0;
  EXPECT_EQ(quadrille_scatterv(ranks.data(), ones.data(), displacements.data(), MPI_INT, &value, 1, MPI_INT, 0, comm,
                               nullptr),
            MPI_SUCCESS);
  EXPECT_EQ(value, rank + 1);
}

TEST_F(CInterface, RequestsAreFreedByWaitingUnlessTheyArePersistent) {
  int value = rank;
  int sum = -1;
  quadrille_request request = nullptr;
  ASSERT_EQ(quadrille_iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm, nullptr, &request), MPI_SUCCESS);
  EXPECT_EQ(quadrille_start(request), MPI_ERR_REQUEST);
  EXPECT_EQ(quadrille_wait(&request), MPI_SUCCESS);
  EXPECT_EQ(request, nullptr);
  EXPECT_EQ(sum, size * (size - 1) / 2);

  quadrille_request first = nullptr;
  quadrille_request second = nullptr;
  int calls = 0;
  ASSERT_EQ(quadrille_bcast_init(&value, 1, MPI_INT, 0, comm, nullptr, &first), MPI_SUCCESS);
  ASSERT_EQ(quadrille_allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, comm, nullptr, &second), MPI_SUCCESS);
  ASSERT_EQ(quadrille_then_start(first, second), MPI_SUCCESS);
  ASSERT_EQ(quadrille_then(
                second, [](void* data) { ++*static_cast<int*>(data); }, &calls),
            MPI_SUCCESS);
  for (int round = 1; round <= 3; ++round) {
    value = rank == 0 ? round : -1;
    ASSERT_EQ(quadrille_start(first), MPI_SUCCESS);
    for (int done = 0; !done;) ASSERT_EQ(quadrille_test(&second, &done), MPI_SUCCESS);
    EXPECT_EQ(sum, round * size);
    EXPECT_EQ(quadrille_wait(&first), MPI_SUCCESS);
    EXPECT_EQ(calls, round);
  }
  EXPECT_EQ(quadrille_request_free(&first), MPI_SUCCESS);
  EXPECT_EQ(quadrille_request_free(&second), MPI_SUCCESS);
  EXPECT_EQ(second, nullptr);
}

// The last rank expects less than it is sent.
TEST_F(CInterface, RequestsAreFreedWhenTheyHaveFailed) {
  if (size == 1) GTEST_SKIP() << "nothing is sent";
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const bool is_last = rank == size - 1;
  std::vector<int> data(1000);
  quadrille_options options = {};
  options.algorithm = "linear";
  for (const bool tests : {false, true}) {
    quadrille_comm broken = nullptr;
    ASSERT_EQ(quadrille_comm_create(MPI_COMM_WORLD, &broken), MPI_SUCCESS);
    quadrille_request request = nullptr;
    ASSERT_EQ(quadrille_ibcast(data.data(), is_last ? 500 : 1000, MPI_INT, 0, broken, &options, &request), MPI_SUCCESS);
    int code = MPI_SUCCESS;
    for (int done = tests ? 0 : 1; done == 0;) code = quadrille_test(&request, &done);
    if (!tests) code = quadrille_wait(&request);
    EXPECT_EQ(code != MPI_SUCCESS, is_last);
    EXPECT_EQ(request, nullptr);
    quadrille_comm_free(&broken);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
}

TEST_F(CInterface, LeavesTheOutputOfAnExscansFirstRankAlone) {
  int value = -1;
  EXPECT_EQ(quadrille_exscan(&rank, rank == 0 ? nullptr : &value, 1, MPI_INT, MPI_SUM, comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(value, rank == 0 ? -1 : rank * (rank - 1) / 2);
}

TEST_F(CInterface, SaysWhatWentWrong) {
  int value = 0;
  EXPECT_EQ(quadrille_bcast(&value, 1, MPI_INT, size, comm, nullptr), MPI_ERR_ROOT);
  EXPECT_NE(std::string(quadrille_error_text()).find("it must be a rank"), std::string::npos);
  EXPECT_EQ(quadrille_bcast(&value, 1, MPI_INT, 0, nullptr, nullptr), MPI_ERR_COMM);
  quadrille_options options = {};
  options.algorithm = "nonsense";
  EXPECT_EQ(quadrille_bcast(&value, 1, MPI_INT, 0, comm, &options), MPI_ERR_ARG);
  EXPECT_NE(std::string(quadrille_error_text()).find("binomial"), std::string::npos);
  options.algorithm = "knomial:1";
  EXPECT_EQ(quadrille_bcast(&value, 1, MPI_INT, 0, comm, &options), MPI_ERR_ARG);
  EXPECT_EQ(quadrille_bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm, nullptr), MPI_ERR_TYPE);
  EXPECT_EQ(quadrille_allreduce(&value, &value, 1, MPI_INT, MPI_OP_NULL, comm, nullptr), MPI_ERR_OP);
  EXPECT_EQ(quadrille_bcast(&value, MPI_Count{1} << 62, MPI_INT, 0, comm, nullptr), MPI_ERR_COUNT);
  EXPECT_EQ(quadrille_allreduce(&value, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm, nullptr), MPI_ERR_BUFFER);
  EXPECT_EQ(quadrille_allgatherv(&value, 1, MPI_INT, result.data(), nullptr, nullptr, MPI_INT, comm, nullptr),
            MPI_ERR_ARG);
  options.algorithm = "knomial:3";
  EXPECT_EQ(quadrille_bcast(&value, 1, MPI_INT, 0, comm, &options), MPI_SUCCESS);
}

}  // namespace

}  // namespace quadrille::test
