#include "measure/bench_options.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace quadrille::measure {
namespace {

BenchOptions parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "quadrille-bench");
  return parse_bench_options(static_cast<int>(words.size()), words.data());
}

// The error message.
std::string error_for(const std::vector<const char*>& words) {
  try {
    parsed(words);
  } catch (const ParseExit& exit) {
    EXPECT_EQ(exit.status, 2);
    return exit.text;
  }
  return "";
}

using Sizes = std::vector<std::int64_t>;

TEST(BenchOptions, SizesAreListsAndRanges) {
  EXPECT_EQ(parse_sizes("8,64KiB,1M"), (Sizes{8, 65536, 1048576}));
  EXPECT_EQ(parse_sizes("8-64"), (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(parse_sizes("8-512*4"), (Sizes{8, 32, 128, 512}));
  EXPECT_EQ(parse_sizes("8-8"), (Sizes{8}));
  EXPECT_EQ(parse_sizes("0"), (Sizes{0}));
}

TEST(BenchOptions, ARangeHasBothOfItsEnds) {
  EXPECT_EQ(parse_sizes("8-1000*4"), (Sizes{8, 32, 128, 512, 1000}));
  EXPECT_EQ(parse_sizes("3-13"), (Sizes{3, 6, 12, 13}));
  EXPECT_EQ(parse_sizes("8-9*1024"), (Sizes{8, 9}));
  const Sizes to_1_mib = parse_sizes("8-1MiB*4");
  EXPECT_EQ(to_1_mib.size(), 10U);
  EXPECT_EQ(to_1_mib.back(), 1048576);
}

TEST(BenchOptions, DuplicatesAreMeasuredOnce) {
  EXPECT_EQ(parse_sizes("16,8-64,64"), (Sizes{16, 8, 32, 64}));
  const BenchOptions options = parsed({"bcast", "barrier", "bcast", "--algorithms", "binomial,binomial,default"});
  EXPECT_EQ(options.collectives, (std::vector<Collective>{Collective::bcast, Collective::barrier}));
  EXPECT_EQ(options.algorithms, (std::vector<std::string>{"binomial", "default"}));
}

TEST(BenchOptions, InvalidRangesAreRejected) {
  for (const char* text :
       {"64-8", "0-8", "8-64*1", "8-64*0", "8-", "-8", "8x", "", "8-1GiB*1073741824G", "1024G-1024G*1024G"}) {
    EXPECT_THROW(parse_sizes(text), std::invalid_argument) << text;
  }
  EXPECT_NE(error_for({"bcast", "--sizes", "64-8"}).find("'64-8' is an empty range"), std::string::npos);
}

TEST(BenchOptions, AlgorithmsMustFitOneOfTheCollectives) {
  EXPECT_NE(error_for({"bcast", "--algorithms", "rign"}).find("no algorithm 'rign' of bcast"), std::string::npos);
  EXPECT_NE(error_for({"bcast", "--algorithms", "dissemination"}).find("'dissemination'"), std::string::npos);
  EXPECT_NE(error_for({"bcast", "--algorithms", "binomial:x"}).find("'binomial:x'"), std::string::npos);
  EXPECT_EQ(parsed({"bcast", "barrier", "--algorithms", "dissemination"}).algorithms.size(), 1U);
  EXPECT_TRUE(parsed({"bcast", "--algorithms", "none"}).algorithms.empty());
}

}  // namespace
}  // namespace quadrille::measure
