#include "engine/node_memory.hpp"

#include <gtest/gtest.h>

#include <vector>

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
  // Creates and opens it; returns whether this rank has trouble. All ranks of the test say what the first of the node
  // does.
  bool make(NodeMemory& memory) const {
    struct Said {
      shared::Segment::Address address;
      bool there;
    };
    std::vector<Said> all(static_cast<std::size_t>(ranks));
    const Said mine{memory.create(), memory.trouble().empty()};
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    const Said& of_first = all[static_cast<std::size_t>(memory.node()[0])];
    if (of_first.there) memory.open(of_first.address);
    PMPI_Barrier(MPI_COMM_WORLD);
    return !memory.trouble().empty();
  }

  int rank = 0;
  int ranks = 1;
};

TEST_F(NodeMemoryTest, IsSharedByTheRanksOfANode) {
  NodeMemory memory(Topology::nodes(ranks, ranks), rank, 4096, true);
  EXPECT_EQ(memory.slot_bytes(), 0) << "not before all have opened it";
  ASSERT_FALSE(make(memory)) << memory.trouble();
  memory.settle(true);
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
  ASSERT_FALSE(make(memory)) << memory.trouble();
  memory.settle(true);
  NodeTransport transport(memory.ground());
  transport.start(0);
  EXPECT_FALSE(transport.reached(rank, 0, 1));
  transport.publish(0, 1);
  EXPECT_TRUE(transport.reached(rank, 0, 1));
}

TEST_F(NodeMemoryTest, NobodyHasItIfOneCannot) {
  NodeMemory memory(Topology::nodes(ranks, ranks), rank, 4096, true);
  ASSERT_FALSE(make(memory)) << memory.trouble();
  memory.settle(false);
  EXPECT_EQ(memory.slot_bytes(), 0);
  EXPECT_EQ(memory.lanes(), nullptr);
}

TEST_F(NodeMemoryTest, TroubleIsSaidByTheRankThatHasIt) {
  // More than any machine has.
  NodeMemory memory(Topology::nodes(ranks, ranks), rank, std::int64_t{1} << 50, true);
  EXPECT_EQ(make(memory), rank == 0) << memory.trouble();
}

}  // namespace
}  // namespace quadrille::engine
