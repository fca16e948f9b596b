#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "interpose/learning.hpp"
#include "learn/memory.hpp"
#include "settings/machine.hpp"

namespace quadrille::interpose {
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
    EXPECT_EQ(
        learn::remember(learned_folder_here(), {barrier_on(1, engine::mpi_name()),
                                                barrier_on(ranks_ + 1, engine::mpi_name()), barrier_on(1, "another")}),
        "");
  }
  // Not what is for more ranks than there are.
  Settings settings;
  Learning learning;
  learning.begin(settings, false);
  ASSERT_EQ(settings.remembered->size(), 1U);
  EXPECT_EQ(settings.remembered->front(), (PlacedRule{{.collective = Collective::barrier}, 1, 1}));
  settings = {};
  settings.learn = 0;
  learning.begin(settings, false);
  EXPECT_EQ(settings.remembered, nullptr);
}

}  // namespace
}  // namespace quadrille::interpose
