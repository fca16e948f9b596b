// The drop-in linked in: calls of MPI_Bcast and so on in this program are ours.

#include "interpose/dropin.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <vector>

namespace quadrille::interpose {

namespace {

// Before MPI_Init, which reads it.
const bool told = setenv("QUADRILLE_FORCE", "all", 1) == 0 && setenv("QUADRILLE_MEMORY", "64k", 1) == 0;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

std::int64_t served_by(Collective collective, const auto& call) {
  const std::int64_t before = DropIn::get().served(collective);
  call();
  return DropIn::get().served(collective) - before;
}

TEST(DropIn, ServesWhatItIsToldTo) {
  ASSERT_TRUE(told);
  int value = rank_in(MPI_COMM_WORLD) == 0 ? 7 : 0;
  EXPECT_EQ(served_by(Collective::bcast, [&] { MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); }), 1);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(served_by(Collective::barrier, [] { MPI_Barrier(MPI_COMM_WORLD); }), 1);
}

constexpr int long_element = 20000;
void add_long_elements(void* left, void* right, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count * long_element; ++i) static_cast<double*>(right)[i] += static_cast<double*>(left)[i];
}

TEST(DropIn, HandsDownWhatDoesNotFitIntoMemory) {
  // One element is more than the bound, and can't be cut; MPI does it.
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Type_contiguous(long_element, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_long_elements, 1, &op);
  std::vector<double> data(long_element, 1);
  const std::int64_t served =
      served_by(Collective::allreduce, [&] { MPI_Allreduce(MPI_IN_PLACE, data.data(), 1, type, op, MPI_COMM_WORLD); });
  EXPECT_EQ(served, size_of(MPI_COMM_WORLD) == 1 ? 1 : 0);
  EXPECT_EQ(data.back(), size_of(MPI_COMM_WORLD));
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

TEST(DropIn, CutsWhatItMustIntoPiecesThatFit) {
  std::vector<double> data(100000, 1);
  const std::int64_t served = served_by(Collective::allreduce, [&] {
    MPI_Allreduce(MPI_IN_PLACE, data.data(), 100000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  });
  EXPECT_EQ(served, 1);
  EXPECT_EQ(data.back(), size_of(MPI_COMM_WORLD));
}

TEST(DropIn, HandsDownWhatItDoesNotKnow) {
  std::vector<int> data(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)), 3);
  const std::vector<int> ones(data.size(), 1);
  std::vector<int> places(data.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(i);
  const std::int64_t served = served_by(Collective::alltoallv, [&] {
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, data.data(), ones.data(), places.data(), MPI_INT,
                  MPI_COMM_WORLD);
  });
  EXPECT_EQ(served, 0);
}

TEST(DropIn, GivesTheErrorsOfMpi) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int value = 0;
  int code = MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD);
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_COUNT);
  code = MPI_Bcast(&value, 1, MPI_INT, size_of(MPI_COMM_WORLD), MPI_COMM_WORLD);
  MPI_Error_class(code, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_ROOT);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST(DropIn, DoesNotUseUpTheCommunicators) {
  // MPICH has 2048; each of ours takes one of them.
  std::vector<MPI_Comm> many(1200);
  std::int64_t served = 0;
  for (MPI_Comm& comm : many) {
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    served += served_by(Collective::barrier, [&] { MPI_Barrier(comm); });
  }
  EXPECT_GT(served, 200);
  EXPECT_LT(served, 300);
  for (MPI_Comm& comm : many) MPI_Comm_free(&comm);
  // And then there is room again.
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  EXPECT_EQ(served_by(Collective::barrier, [&] { MPI_Barrier(comm); }), 1);
  MPI_Comm_free(&comm);
}

}  // namespace

}  // namespace quadrille::interpose
