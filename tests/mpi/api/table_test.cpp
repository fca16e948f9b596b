// The table of what wins, as the library follows it.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "api/handle.hpp"
#include "api/world.hpp"

namespace quadrille::test {

namespace {

using detail::Call;
using detail::data_call;
using detail::reduction_call;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size_of_world() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// A table that only rank 0 can read, and a variable that leads there.
class TableFile {
 public:
  explicit TableFile(const std::string& text) {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() / fmt::format("quadrille_table_{}_{}", getpid(), ++number);
    setenv("QUADRILLE_TABLE", path_.c_str(), 1);
    if (rank_of_world() == 0) std::ofstream(path_) << text;
  }
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  ~TableFile() {
    unsetenv("QUADRILLE_TABLE");
    remove();
  }
  void remove() const { std::filesystem::remove(path_); }

 private:
  std::filesystem::path path_;
};

// Rules for all ranks, on one node.
std::string table_of(const std::string& rules, const std::string& mpi = engine::mpi_name()) {
  return fmt::format("# quadrille table 1\n[{}, {} ranks, 1 nodes]\n{}\n", mpi, size_of_world(), rules);
}

// What would serve the call: an algorithm, with the bytes of a segment behind a slash where it has some; "" if nothing.
std::string server(engine::Context& context, const Call& call, const api::CallOptions& options) {
  const auto task = api::prepare(context, call, options, api::Handles::borrowed).task;
  if (!task) return "";
  const engine::Shape& shape = task->shape();
  const std::int64_t segment = shape.variant.segment / shape.unit_bytes;
  return std::string(shape.variant.algorithm().name) + (segment > 0 ? fmt::format("/{}", segment) : "");
}
std::string server(engine::Context& context, const Call& call) {
  return server(context, call, {.request = {.native = Request::Native::unless_faster}});
}

std::array<double, 1000> from;
std::array<double, 1000> to;

Call allreduce(int count, MPI_Op op = MPI_SUM) {
  return reduction_call(Collective::allreduce, {from.data(), count, MPI_DOUBLE}, {to.data(), count, MPI_DOUBLE}, op);
}
Call bcast(int bytes) {
  return data_call(Collective::bcast, {}, {to.data(), bytes, MPI_BYTE});
}

TEST(TableOfWinners, ServesTheSizesThatItHas) {
  const TableFile file(table_of("allreduce 16-64 pairwise\nbcast 100-200 knomial:3"));
  const auto context = api::context_of(MPI_COMM_WORLD);
  // The second time it need not look at what it had no rule for.
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(server(*context, allreduce(1)), "");
    EXPECT_EQ(server(*context, allreduce(2)), "pairwise");
    EXPECT_EQ(server(*context, allreduce(8)), "pairwise");
    EXPECT_EQ(server(*context, allreduce(9)), "");
    EXPECT_EQ(server(*context, bcast(99)), "");
    EXPECT_EQ(server(*context, bcast(100)), "knomial");
    EXPECT_EQ(server(*context, bcast(201)), "");
  }
  // Without it, what costs the least serves the rest.
  EXPECT_EQ(server(*context, allreduce(2), {}), "pairwise");
  EXPECT_NE(server(*context, allreduce(1), {}), "pairwise");
}

TEST(TableOfWinners, CountsBytesAsTheBenchmarkDoes) {
  const int ranks = size_of_world();
  const int total = ranks * (ranks + 1) / 2;
  const TableFile file(
      table_of(fmt::format("barrier 0 tree\nbcast 24 linear\nreduce 24 linear\ngather 24 linear\nscatter 24 linear\n"
                           "allgather 24 ring\nscan 24 linear\nexscan 24 linear\nalltoall {0} pairwise\n"
                           "reduce_scatter_block {0} pairwise\nreduce_scatter {1} pairwise",
                           24 * ranks, 8 * total)));
  const auto context = api::context_of(MPI_COMM_WORLD);
  const detail::UserBuffer in{from.data(), 3, MPI_DOUBLE};
  const detail::UserBuffer out{to.data(), 3, MPI_DOUBLE};
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  std::iota(counts.begin(), counts.end(), 1);
  EXPECT_EQ(server(*context, data_call(Collective::barrier, {}, {})), "tree");
  EXPECT_EQ(server(*context, data_call(Collective::bcast, {}, out, ranks - 1)), "linear");
  EXPECT_EQ(server(*context, reduction_call(Collective::reduce, in, out, MPI_SUM)), "linear");
  EXPECT_EQ(server(*context, data_call(Collective::gather, in, out)), "linear");
  EXPECT_EQ(server(*context, data_call(Collective::scatter, in, out)), "linear");
  EXPECT_EQ(server(*context, data_call(Collective::allgather, in, out)), "ring");
  EXPECT_EQ(server(*context, reduction_call(Collective::scan, in, out, MPI_SUM)), "linear");
  EXPECT_EQ(server(*context, reduction_call(Collective::exscan, in, out, MPI_SUM)), "linear");
  EXPECT_EQ(server(*context, data_call(Collective::alltoall, in, out)), "pairwise");
  EXPECT_EQ(server(*context, reduction_call(Collective::reduce_scatter_block, in, out, MPI_SUM)), "pairwise");
  EXPECT_EQ(
      server(*context, reduction_call(Collective::reduce_scatter, {.address = from.data(), .type = MPI_DOUBLE},
                                      {.address = to.data(), .type = MPI_DOUBLE, .counts = counts.data()}, MPI_SUM)),
      "pairwise");
  // At the root alone in place.
  const detail::UserBuffer mine{context->rank() == 0 ? MPI_IN_PLACE : from.data(), 3, MPI_DOUBLE};
  EXPECT_EQ(server(*context, data_call(Collective::gather, mine, out)), "linear");
}

TEST(TableOfWinners, WhatItsAlgorithmCannotDoItDoesNotServe) {
  const TableFile file(table_of("allreduce 8 ring\nalltoall 0-10000 pairwise"));
  const auto context = api::context_of(MPI_COMM_WORLD);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 0, &op);
  EXPECT_EQ(server(*context, allreduce(1)), "ring");
  EXPECT_EQ(server(*context, allreduce(1, op)), "");
  EXPECT_NE(server(*context, allreduce(1, op), {}), "ring");
  MPI_Op_free(&op);
  EXPECT_EQ(server(*context, data_call(Collective::alltoall, {.address = MPI_IN_PLACE}, {to.data(), 3, MPI_DOUBLE})),
            "");
}

TEST(TableOfWinners, KeepsTheSegmentThatWasMeasured) {
  const TableFile file(table_of("bcast 64 pipelined_chain segment 16\nbcast 65 pipelined_chain"));
  const auto context = api::context_of(MPI_COMM_WORLD);
  EXPECT_EQ(server(*context, bcast(64)), "pipelined_chain/16");
  EXPECT_EQ(server(*context, bcast(65)), "pipelined_chain/" + std::to_string(context->settings().preferences.segment));
}

TEST(TableOfWinners, ComesBehindWhatTheUserSays) {
  const TableFile file(table_of("allreduce 8 pairwise"));
  setenv("QUADRILLE_ALGORITHM", "allreduce=reduce_bcast", 1);
  const auto context = api::context_of(MPI_COMM_WORLD);
  unsetenv("QUADRILLE_ALGORITHM");
  EXPECT_EQ(server(*context, allreduce(1)), "reduce_bcast");
  EXPECT_EQ(server(*context, allreduce(2)), "");
  EXPECT_EQ(server(*context, allreduce(1), {.request = {.variant = variant_named(Collective::allreduce, "ring")}}),
            "ring");
}

TEST(TableOfWinners, GivesWayWhereItTakesTooMuchMemory) {
  const TableFile file(table_of("allreduce 8000 recursive_doubling"));
  setenv("QUADRILLE_MEMORY", "4k", 1);
  const auto context = api::context_of(MPI_COMM_WORLD);
  unsetenv("QUADRILLE_MEMORY");
  if (size_of_world() == 1) return;
  EXPECT_NE(server(*context, allreduce(1000), {}), "recursive_doubling");
  // The drop-in passes it through for that.
  const api::CallOptions options{.request = {.native = Request::Native::unless_faster}};
  const api::Prepared prepared = api::prepare(*context, allreduce(1000), options, api::Handles::borrowed);
  EXPECT_EQ(prepared.task, nullptr);
  EXPECT_EQ(prepared.why_native, Reason::Kind::memory);
  EXPECT_TRUE(prepared.memorable);
}

TEST(TableOfWinners, IsForAsManyRanks) {
  const TableFile file(table_of("allreduce 8 pairwise"));
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_of_world() == 0 ? 0 : 1, 0, &half);
  {
    const auto whole = api::context_of(MPI_COMM_WORLD);
    const engine::Context part(half, whole->settings());
    EXPECT_FALSE(whole->selector().guide().empty());
    EXPECT_EQ(part.selector().guide().empty(), size_of_world() > 1);
  }
  MPI_Comm_free(&half);
}

TEST(TableOfWinners, IsForItsMpi) {
  const TableFile file(table_of("allreduce 8 pairwise", "Another MPI 1.0"));
  testing::internal::CaptureStderr();
  const auto context = api::context_of(MPI_COMM_WORLD);
  const auto again = api::context_of(MPI_COMM_WORLD);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(context->selector().guide().empty());
  EXPECT_NE(server(*context, allreduce(1), {}), "pairwise");
  EXPECT_EQ(said.find("was measured under Another MPI 1.0, and this is ") != std::string::npos, rank_of_world() == 0);
  EXPECT_EQ(said.find("measured"), said.rfind("measured"));
}

TEST(TableOfWinners, IsReadOnce) {
  const TableFile file(table_of("allreduce 8 pairwise"));
  const auto first = api::context_of(MPI_COMM_WORLD);
  file.remove();
  const auto second = api::context_of(MPI_COMM_WORLD);
  EXPECT_EQ(first->settings().table, second->settings().table);
  EXPECT_EQ(server(*second, allreduce(1)), "pairwise");
}

TEST(TableOfWinners, WhatIsWrongWithItEveryRankHears) {
  const auto complaint = [] {
    try {
      api::context_of(MPI_COMM_WORLD);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  {
    const TableFile file(table_of("allreduce 8 pairwise\n\nallreduce 9 quickly"));
    EXPECT_NE(complaint().find(":5: expected an algorithm of allreduce"), std::string::npos);
  }
  const TableFile file(table_of(""));
  file.remove();
  EXPECT_NE(complaint().find("can't read it"), std::string::npos);
}

TEST(TableOfWinners, ResultsAreRight) {
  const TableFile file(table_of("allreduce 8-80 pairwise\nbcast 8 knomial"));
  Communicator comm(MPI_COMM_WORLD);
  const std::vector<int> mine(4, rank_of_world() + 1);
  std::vector<int> sum(4);
  for (int i = 0; i < 3; ++i) {
    comm.allreduce(mine.data(), sum.data(), 4, MPI_INT, MPI_SUM);
    EXPECT_EQ(sum, std::vector<int>(4, size_of_world() * (size_of_world() + 1) / 2));
    double value = rank_of_world() == 0 ? 5 : 0;
    comm.bcast(&value, 1, MPI_DOUBLE, 0);
    EXPECT_EQ(value, 5);
  }
}

}  // namespace

}  // namespace quadrille::test
