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
  detail::Call allreduce(const void* input, const void* output, MPI_Op op = MPI_SUM, int count = 2,
                         MPI_Datatype type = MPI_INT) {
    return reduction_call(Collective::allreduce, {input, count, type}, {output, count, type}, op);
  }

  std::array<int, 8> data_ = {};
  std::array<int, 8> more_ = {};
  RecentCalls recent_;
};

TEST_F(RecentCallsTest, KnowACallByAllThatItDependsOn) {
  EXPECT_EQ(recent_.find(bcast(4)), nullptr);
  recent_.keep(bcast(4), {nullptr, Outcome::memory}, true);
  ASSERT_NE(recent_.find(bcast(4)), nullptr);
  EXPECT_EQ(recent_.find(bcast(4))->outcome, Outcome::memory);
  EXPECT_EQ(recent_.find(bcast(5)), nullptr);
  EXPECT_EQ(recent_.find(bcast(4, 1)), nullptr);
  EXPECT_EQ(recent_.find(bcast(4, 0, MPI_DOUBLE)), nullptr);
  // Addresses are not looked at, but whether there is one.
  recent_.keep(allreduce(data_.data(), more_.data()), {}, true);
  EXPECT_NE(recent_.find(allreduce(more_.data(), data_.data())), nullptr);
  EXPECT_EQ(recent_.find(allreduce(more_.data(), data_.data(), MPI_MAX)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(MPI_IN_PLACE, data_.data())), nullptr);
}

TEST_F(RecentCallsTest, KnowABcastByItsBytesWhateverItsType) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  EXPECT_EQ(recent_.find(bcast(2, 0, pair)), nullptr);
  recent_.keep(bcast(4), {nullptr, Outcome::memory}, false);
  ASSERT_NE(recent_.find(bcast(2, 0, pair)), nullptr);
  EXPECT_EQ(recent_.find(bcast(2, 0, pair))->outcome, Outcome::memory);
  EXPECT_EQ(recent_.find(bcast(1, 0, pair)), nullptr);
  EXPECT_EQ(recent_.find(bcast(2, 1, pair)), nullptr);
  EXPECT_EQ(recent_.find(bcast(-2, 0, pair)), nullptr);
  EXPECT_EQ(recent_.find(bcast(4, 0, MPI_DATATYPE_NULL)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(data_.data(), more_.data())), nullptr);
  MPI_Type_free(&pair);
}

// The handles may be others in each call.
TEST_F(RecentCallsTest, KnowAReductionByAnOperationOfTheProgramsByWhatItComesTo) {
  const auto made = [](int commutative) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, commutative, &op);
    return op;
  };
  std::array<MPI_Op, 3> ops = {made(1), made(1), made(0)};
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Datatype another = MPI_DATATYPE_NULL;
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_contiguous(2, MPI_INT, &another);
  MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
  for (MPI_Datatype* type : {&pair, &another, &apart}) MPI_Type_commit(type);
  const void* const input = data_.data();
  const void* const output = more_.data();
  recent_.keep(allreduce(input, output, ops[0], 2, pair), {nullptr, Outcome::memory}, false);
  ASSERT_NE(recent_.find(allreduce(input, output, ops[1], 2, another)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(input, output, ops[1], 2, another))->outcome, Outcome::memory);
  EXPECT_NE(recent_.find(allreduce(MPI_IN_PLACE, output, ops[0], 2, pair)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(input, output, ops[2], 2, pair)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(input, output, MPI_SUM, 2, pair)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(input, output, MPI_OP_NULL, 2, pair)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(input, output, ops[0], 1, pair)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(input, output, ops[0], 2, apart)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(input, output, ops[0], 2, MPI_INT)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(output, output, ops[0], 2, pair)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(nullptr, output, ops[0], 2, pair)), nullptr);
  for (MPI_Datatype* type : {&pair, &another, &apart}) MPI_Type_free(type);
  for (MPI_Op& op : ops) MPI_Op_free(&op);
}

// A reduce's output is looked at on the root alone.
TEST_F(RecentCallsTest, KnowACallWithoutABufferByThat) {
  recent_.keep(allreduce(data_.data(), nullptr), {}, true);
  EXPECT_NE(recent_.find(allreduce(data_.data(), nullptr)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(data_.data(), more_.data())), nullptr);
}

// MPI may refuse it, or we take it for MPI_IN_PLACE.
TEST_F(RecentCallsTest, KnowNoCallWithoutABufferOrWithOneTwice) {
  recent_.keep(allreduce(data_.data(), more_.data()), {}, true);
  EXPECT_EQ(recent_.find(allreduce(nullptr, more_.data())), nullptr);
  EXPECT_EQ(recent_.find(allreduce(data_.data(), nullptr)), nullptr);
  EXPECT_EQ(recent_.find(allreduce(data_.data(), data_.data())), nullptr);
  const auto barrier = data_call(Collective::barrier, {}, {});
  recent_.keep(barrier, {}, true);
  EXPECT_NE(recent_.find(barrier), nullptr);
}

// Counts of blocks may change behind the same address.
TEST_F(RecentCallsTest, KnowNoCallWithCountsOfItsOwn) {
  detail::Call call = bcast(0);
  recent_.keep(call, {}, true);
  EXPECT_NE(recent_.find(call), nullptr);
  call.output.counts = data_.data();
  EXPECT_EQ(recent_.find(call), nullptr);
}

TEST_F(RecentCallsTest, KeepTheLaterOfTwoInOnePlace) {
  int found = 0;
  const auto call = [&](int count) { return allreduce(data_.data(), more_.data(), MPI_SUM, count); };
  for (int count = 1; count <= 1000; ++count) recent_.keep(call(count), {}, true);
  for (int count = 1; count <= 1000; ++count) found += recent_.find(call(count)) ? 1 : 0;
  EXPECT_NE(recent_.find(call(1000)), nullptr);
  EXPECT_GT(found, 32);
  EXPECT_LE(found, 64);
}

}  // namespace
}  // namespace quadrille::interpose
