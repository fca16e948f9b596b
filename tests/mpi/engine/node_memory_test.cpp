#include "engine/node_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "engine/mpi.hpp"

namespace quadrille::engine {
namespace {

// All ranks of the test are on one machine, and so may be taken for one node, or for one each.
class NodeMemoryTest : public testing::Test {
 protected:
  NodeMemoryTest() {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  std::vector<NodeMemory::Word> words_of_all(const NodeMemory::Word& mine) const {
    std::vector<NodeMemory::Word> all(static_cast<std::size_t>(ranks));
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    return all;
  }

  int rank = 0;
  int ranks = 1;
};

TEST_F(NodeMemoryTest, IsSharedByTheRanksOfANode) {
  NodeMemory memory(Topology::nodes(ranks, ranks), rank, 4096, true);
  EXPECT_EQ(memory.slot_bytes(), 0) << "not before all have opened it";
  const auto created = words_of_all(memory.create());
  const auto opened = words_of_all(memory.open(created));
  ASSERT_FALSE(memory.settle(opened));
  EXPECT_EQ(memory.slot_bytes(), 4096);
  // Each rank publishes, and sees what the next one has.
  const NodeTransport transport = [&] {
    NodeTransport made(memory.ground());
    made.start(0);
    return made;
  }();
  transport.publish(1, 5 + rank);
  const Rank next = (rank + 1) % ranks;
  while (!transport.reached(next, 1, 5 + next)) transport.sleep({next, 1, 5 + next}, std::chrono::milliseconds(1));
  EXPECT_FALSE(transport.reached(next, 1, 6 + next));
  PMPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(NodeMemoryTest, EachNodeHasItsOwn) {
  NodeMemory memory(Topology::nodes(ranks, 1), rank, 4096, true);
  const auto created = words_of_all(memory.create());
  ASSERT_FALSE(memory.settle(words_of_all(memory.open(created))));
  NodeTransport transport(memory.ground());
  transport.start(0);
  EXPECT_FALSE(transport.reached(rank, 0, 1));
  transport.publish(0, 1);
  EXPECT_TRUE(transport.reached(rank, 0, 1));
}

TEST_F(NodeMemoryTest, NobodyHasItIfOneCannot) {
  NodeMemory memory(Topology::nodes(ranks, ranks), rank, 4096, true);
  const auto created = words_of_all(memory.create());
  NodeMemory::Word mine = memory.open(created);
  const Rank last = ranks - 1;
  if (rank == last) std::strcpy(mine.trouble.data(), "no more of it");
  const auto opened = words_of_all(mine);
  EXPECT_EQ(memory.settle(opened), last);
  EXPECT_EQ(memory.slot_bytes(), 0);
  EXPECT_EQ(memory.lanes(), nullptr);
}

TEST_F(NodeMemoryTest, TroubleIsSaidByTheRankThatHasIt) {
  // More than any machine has.
  NodeMemory memory(Topology::nodes(ranks, ranks), rank, std::int64_t{1} << 50, true);
  const NodeMemory::Word mine = memory.create();
  EXPECT_EQ(mine.trouble[0] != 0, rank == 0) << mine.trouble.data();
  const auto created = words_of_all(mine);
  EXPECT_NE(std::string_view(created[0].trouble.data()), "");
  EXPECT_EQ(memory.settle(words_of_all(memory.open(created))), 0);
}

}  // namespace
}  // namespace quadrille::engine
