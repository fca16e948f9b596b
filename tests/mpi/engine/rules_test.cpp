#include "engine/rules.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "learn/memory.hpp"
#include "settings/machine.hpp"

namespace quadrille::engine {
namespace {

class Remembered : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    folder_ = std::filesystem::path(testing::TempDir()) / ("quadrille-settings-" + std::to_string(getpid()));
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder_);
  }

  int rank_ = 0;
  int ranks_ = 0;
  std::filesystem::path folder_;
};

learn::Finding barrier_on(Rank ranks, const std::string& mpi) {
  return {.rule = {.collective = Collective::barrier}, .mpi = mpi, .ranks = ranks, .nodes = 1};
}

TEST_F(Remembered, EveryRankHasWhatRankZeroRecalls) {
  if (rank_ == 0) {
    EXPECT_EQ(learn::remember(learned_folder_here(), {barrier_on(1, mpi_name()), barrier_on(ranks_ + 1, mpi_name()),
                                                      barrier_on(1, "another")}),
              "");
  }
  // Not what is for more ranks than there are.
  const Rules* const rules = agreed_memory(MPI_COMM_WORLD);
  ASSERT_EQ(rules->size(), 1U);
  EXPECT_EQ(rules->front(), (PlacedRule{{.collective = Collective::barrier}, 1, 1}));
}

}  // namespace
}  // namespace quadrille::engine
