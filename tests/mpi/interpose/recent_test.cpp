#include "interpose/recent.hpp"

#include <gtest/gtest.h>

#include <array>

namespace quadrille::interpose {
namespace {

using detail::data_call;
using detail::reduction_call;

class RecentCallsTest : public testing::Test {
 protected:
  detail::Call bcast(int count, int root = 0, MPI_Datatype type = MPI_INT) {
    return data_call(Collective::bcast, {}, {data_.data(), count, type}, root);
  }
  detail::Call allreduce(const void* input, const void* output, MPI_Op op = MPI_SUM) {
    return reduction_call(Collective::allreduce, {input, 2, MPI_INT}, {output, 2, MPI_INT}, op);
  }

  std::array<int, 8> data_ = {};
  std::array<int, 8> more_ = {};
  RecentCalls recent_;
};

TEST_F(RecentCallsTest, KnowACallByAllThatItDependsOn) {
  EXPECT_EQ(recent_.find(bcast(4)), nullptr);
  recent_.keep(bcast(4), {nullptr, Outcome::memory});
  ASSERT_NE(recent_.find(bcast(4)), nullptr);
  EXPECT_EQ(recent_.find(bcast(4))->outcome, Outcome::memory);
  EXPECT_EQ(recent_.find(bcast(5)), nullptr);
  EXPECT_EQ(recent_.find(bcast(4, 1)), nullptr);
  EXPECT_EQ(recent_.find(bcast(4, 0, MPI_DOUBLE)), nullptr);
  // Addresses are not looked at, but whether there is one.
  recent_.keep(allreduce(data_.data(), more_.data()), {});
  EXPECT_NE(recent_.find(allreduce(more_.data(), data_.data())), nullptr);
  EXPECT_EQ(recent_.find(allreduce(more_.data(), data_.data(), MPI_MAX)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(MPI_IN_PLACE, data_.data())), nullptr);
}

TEST_F(RecentCallsTest, KnowABcastByItsBytesWhateverItsType) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  EXPECT_EQ(recent_.find(bcast(2, 0, pair)), nullptr);
  recent_.keep_bytes(bcast(4), {nullptr, Outcome::memory});
  ASSERT_NE(recent_.find(bcast(2, 0, pair)), nullptr);
  EXPECT_EQ(recent_.find(bcast(2, 0, pair))->outcome, Outcome::memory);
  EXPECT_EQ(recent_.find(bcast(1, 0, pair)), nullptr);
  EXPECT_EQ(recent_.find(bcast(2, 1, pair)), nullptr);
  EXPECT_EQ(recent_.find(bcast(-2, 0, pair)), nullptr);
  EXPECT_EQ(recent_.find(bcast(4, 0, MPI_DATATYPE_NULL)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(data_.data(), more_.data())), nullptr);
  MPI_Type_free(&pair);
}

// MPI may refuse it, or we take it for MPI_IN_PLACE.
TEST_F(RecentCallsTest, KnowNoCallWithoutABufferOrWithOneTwice) {
  recent_.keep(allreduce(data_.data(), more_.data()), {});
  EXPECT_EQ(recent_.find(allreduce(nullptr, more_.data())), nullptr);
  EXPECT_EQ(recent_.find(allreduce(data_.data(), nullptr)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(data_.data(), data_.data())), nullptr);
  const auto barrier = data_call(Collective::barrier, {}, {});
  recent_.keep(barrier, {});
  EXPECT_NE(recent_.find(barrier), nullptr);
}

// Counts of blocks may change behind the same address.
TEST_F(RecentCallsTest, KnowNoCallWithCountsOfItsOwn) {
  detail::Call call = bcast(0);
  recent_.keep(call, {});
  EXPECT_NE(recent_.find(call), nullptr);
  call.output.counts = data_.data();
  EXPECT_EQ(recent_.find(call), nullptr);
}

TEST_F(RecentCallsTest, KeepTheLaterOfTwoInOnePlace) {
  int found = 0;
  for (int count = 1; count <= 1000; ++count) recent_.keep(bcast(count), {});
  for (int count = 1; count <= 1000; ++count) found += recent_.find(bcast(count)) ? 1 : 0;
  EXPECT_NE(recent_.find(bcast(1000)), nullptr);
  EXPECT_GT(found, 32);
  EXPECT_LE(found, 64);
}

}  // namespace
}  // namespace quadrille::interpose
