#include <gtest/gtest.h>
#include <quadrille/quadrille.h>

#include <cstddef>
#include <string>
#include <vector>

namespace quadrille::test {
namespace {

class CWindows : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(quadrille_comm_create(MPI_COMM_WORLD, &comm_), MPI_SUCCESS) << quadrille_error_text();
    quadrille_comm_rank(comm_, &rank_);
    quadrille_comm_size(comm_, &size_);
  }
  void TearDown() override { quadrille_comm_free(&comm_); }

  quadrille_comm comm_ = nullptr;
  int rank_ = 0;
  int size_ = 0;
};

TEST_F(CWindows, DoWhatThoseOfCppDo) {
  void* memory = nullptr;
  quadrille_window window = nullptr;
  const auto bytes = static_cast<MPI_Count>(sizeof(int)) * (100 + size_);
  ASSERT_EQ(quadrille_window_allocate(bytes, comm_, &memory, &window), MPI_SUCCESS) << quadrille_error_text();
  int one_sided = 0;
  EXPECT_EQ(quadrille_window_one_sided(window, &one_sided), MPI_SUCCESS);
  EXPECT_EQ(one_sided, 1);
  EXPECT_EQ(std::string(quadrille_window_transport(window)).substr(0, 7), "windows");
  int* const values = static_cast<int*>(memory);
  for (int root = 0; root < size_; ++root) {
    for (int i = 0; i < 100; ++i) values[i] = rank_ == root ? root + i : -1;
    EXPECT_EQ(quadrille_window_bcast(0, 4, root, window, nullptr), MPI_SUCCESS);
    quadrille_request request = nullptr;
    EXPECT_EQ(quadrille_window_ibcast(4, 396, root, window, nullptr, &request), MPI_SUCCESS);
    EXPECT_EQ(quadrille_wait(&request), MPI_SUCCESS);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(values[i], root + i);
  }
  quadrille_request persistent = nullptr;
  EXPECT_EQ(quadrille_window_bcast_init(0, 400, 0, window, nullptr, &persistent), MPI_SUCCESS);
  for (int round = 0; round < 3; ++round) {
    if (rank_ == 0) values[99] = round;
    EXPECT_EQ(quadrille_start(persistent), MPI_SUCCESS);
    EXPECT_EQ(quadrille_wait(&persistent), MPI_SUCCESS);
    EXPECT_EQ(values[99], round);
  }
  EXPECT_EQ(quadrille_request_free(&persistent), MPI_SUCCESS);
  values[100 + rank_] = rank_;
  EXPECT_EQ(quadrille_window_allgather(400, 4, window, nullptr), MPI_SUCCESS);
  for (int i = 0; i < size_; ++i) EXPECT_EQ(values[100 + i], i);
  EXPECT_EQ(quadrille_window_barrier(window, nullptr), MPI_SUCCESS);
  quadrille_request barrier = nullptr;
  EXPECT_EQ(quadrille_window_ibarrier(window, nullptr, &barrier), MPI_SUCCESS);
  EXPECT_EQ(quadrille_wait(&barrier), MPI_SUCCESS);
  EXPECT_EQ(quadrille_window_free(&window), MPI_SUCCESS);
  EXPECT_EQ(window, nullptr);
}

TEST_F(CWindows, SayWhatIsWrong) {
  std::vector<char> memory(10);
  quadrille_window window = nullptr;
  EXPECT_EQ(quadrille_window_create(memory.data(), 10, nullptr, &window), MPI_ERR_COMM);
  EXPECT_EQ(quadrille_window_create(memory.data(), 10, comm_, nullptr), MPI_ERR_ARG);
  EXPECT_EQ(quadrille_window_allocate(10, comm_, nullptr, &window), MPI_ERR_ARG);
  EXPECT_EQ(quadrille_window_bcast(0, 1, 0, nullptr, nullptr), MPI_ERR_WIN);
  EXPECT_EQ(quadrille_window_transport(nullptr), nullptr);
  ASSERT_EQ(quadrille_window_create(memory.data(), 10, comm_, &window), MPI_SUCCESS);
  EXPECT_EQ(quadrille_window_bcast(0, 11, 0, window, nullptr), MPI_ERR_ARG);
  EXPECT_EQ(quadrille_window_bcast(0, 1, size_, window, nullptr), MPI_ERR_ROOT);
  EXPECT_EQ(quadrille_window_free(&window), MPI_SUCCESS);
  EXPECT_EQ(quadrille_window_free(&window), MPI_ERR_WIN);
}

}  // namespace
}  // namespace quadrille::test
