#include "cluster/mapping.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "cluster/network.hpp"
#include "cluster/options.hpp"

namespace quadrille::cluster {
namespace {

Options small(int nodes, int slots) {
  Options options;
  options.nodes = nodes;
  options.slots = slots;
  return options;
}

// What was thrown.
template <typename Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class MapFile {
 public:
  explicit MapFile(const std::string& text) { std::ofstream(path_) << text; }
  ~MapFile() { std::remove(path_.c_str()); }
  MapFile(const MapFile&) = delete;
  MapFile& operator=(const MapFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "quadrille-map-" + std::to_string(getpid());
};

TEST(Mapping, BlocksFillANodeBeforeTheNext) {
  EXPECT_EQ(mapping("block", {}, small(3, 2)), (Mapping{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(mapping("block", 3, small(3, 2)), (Mapping{0, 0, 1}));
}

TEST(Mapping, CyclicIsRoundRobin) {
  EXPECT_EQ(mapping("cyclic", {}, small(3, 2)), (Mapping{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(mapping("cyclic", 4, small(3, 2)), (Mapping{0, 1, 2, 0}));
}

TEST(Mapping, PprPutsAFixedNumberOfRanksOnEachNode) {
  EXPECT_EQ(mapping("ppr:1", {}, small(3, 2)), (Mapping{0, 1, 2}));
  EXPECT_EQ(mapping("ppr:2", 5, small(3, 4)), (Mapping{0, 0, 1, 1, 2}));
}

TEST(Mapping, AFileListsOneNodePerLine) {
  const MapFile file("node2\n0  # the first node\n\n  node2\nnode1\n");
  EXPECT_EQ(mapping(file.path(), {}, small(3, 2)), (Mapping{2, 0, 2, 1}));
  EXPECT_EQ(mapping(file.path(), 2, small(3, 2)), (Mapping{2, 0}));
  EXPECT_TRUE(has(refusal([&] { mapping(file.path(), 5, small(3, 2)); }), "maps only 4"));
  EXPECT_TRUE(has(refusal([&] { mapping(file.path(), {}, small(2, 2)); }), ":1: no node 'node2'"));
  EXPECT_TRUE(has(refusal([&] { mapping(file.path(), {}, small(3, 1)); }), "node2 would have 2 ranks"));
}

TEST(Mapping, MoreRanksThanSlotsAreRejectedWithTheRemedy) {
  EXPECT_TRUE(has(refusal([] { mapping("block", 7, small(3, 2)); }), "more --nodes or --slots"));
  EXPECT_TRUE(has(refusal([] { mapping("cyclic", 7, small(3, 2)); }), "more --nodes or --slots"));
  EXPECT_TRUE(has(refusal([] { mapping("ppr:1", 4, small(3, 2)); }), "1 on each of 3 nodes"));
  EXPECT_TRUE(has(refusal([] { mapping("ppr:3", {}, small(3, 2)); }), "more --slots"));
}

TEST(Mapping, InvalidMappingsAreNamed) {
  EXPECT_TRUE(has(refusal([] { mapping("ppr:x", {}, small(3, 2)); }), "'ppr:x' is not ppr:N"));
  EXPECT_TRUE(has(refusal([] { mapping("ppr:0", {}, small(3, 2)); }), "'ppr:0' is not ppr:N"));
  EXPECT_TRUE(has(refusal([] { mapping("/no/such", {}, small(3, 2)); }), "'/no/such' is neither block"));
  EXPECT_TRUE(has(refusal([] { mapping("block", 0, small(3, 2)); }), "-n: 0"));
}

TEST(Mapping, OpenMpiHasOneLinePerRank) {
  EXPECT_EQ(hosts_of({0, 1, 0}), (std::vector<std::string>{"node0", "node1", "node0"}));
}

TEST(Mapping, MpichListsANodeOnce) {
  EXPECT_EQ(hosts_for_mpich({0, 0, 1, 1, 2}), "node0:2\nnode1:2\nnode2:1\n");
  EXPECT_EQ(hosts_for_mpich({0, 1, 2, 0, 1}), "node0:1\nnode1:1\nnode2:1\n");
  EXPECT_EQ(hosts_for_mpich({2, 2, 0, 2, 2, 0, 2}), "node2:2\nnode0:1\n");
  EXPECT_TRUE(has(refusal([] { hosts_for_mpich({0, 1, 0, 0}); }), "would take node0 for another node from rank 2 on"));
}

TEST(Options, RatesAreNumbersWithAUnit) {
  EXPECT_EQ(parse_rate("--rate", "200mbit"), 200'000'000);
  EXPECT_EQ(parse_rate("--rate", "2.5Gbit"), 2'500'000'000);
  EXPECT_EQ(parse_rate("--rate", "64000bit"), 64'000);
  for (const char* wrong : {"", "200", "mbit", "-1mbit", "0mbit", "1tbit", "200 mbit", "1e9gbit", "nanmbit"}) {
    EXPECT_TRUE(has(refusal([&] { parse_rate("--rate", wrong); }), "not a rate such as 200mbit")) << wrong;
  }
  EXPECT_EQ(rate_text(200'000'000), "200 Mbit/s");
  EXPECT_EQ(rate_text(2'500'000'000), "2.5 Gbit/s");
}

TEST(Options, NodesAreGivenByNameOrNumber) {
  EXPECT_EQ(node_of("node3", 4), 3);
  EXPECT_EQ(node_of("0", 4), 0);
  for (const char* wrong : {"node4", "4", "-1", "node", "", "node1x"}) {
    EXPECT_TRUE(has(refusal([&] { node_of(wrong, 4); }), "the nodes are node0 to node3")) << wrong;
  }
}

TEST(Options, InvalidOptionsAreRejected) {
  const auto with = [](auto change) {
    Options options;
    change(options);
    return refusal([&] { check(options); });
  };
  EXPECT_TRUE(has(with([](Options& o) { o.nodes = 0; }), "--nodes"));
  EXPECT_TRUE(has(with([](Options& o) { o.nodes = 1001; }), "--nodes"));
  EXPECT_TRUE(has(with([](Options& o) { o.slots = 0; }), "--slots"));
  EXPECT_TRUE(has(with([](Options& o) { o.racks = 17; }), "--racks"));
  EXPECT_TRUE(has(with([](Options& o) { o.uplink = 1; }), "--uplink: there are no racks"));
  EXPECT_TRUE(has(with([](Options& o) { o.name = "../x"; }), "--name"));
  EXPECT_EQ(with([](Options&) {}), "nothing was thrown");
}

TEST(Options, RacksHoldConsecutiveNodes) {
  Options options = small(7, 1);
  options.racks = 3;
  Mapping racks;
  for (int node = 0; node < options.nodes; ++node) racks.push_back(rack_of(options, node));
  EXPECT_EQ(racks, (Mapping{0, 0, 0, 1, 1, 2, 2}));
}

TEST(Network, TheBurstGrowsWithTheRate) {
  Options options = small(1, 1);
  EXPECT_TRUE(has(node_shapes(options, 0), "rate 200000000bit burst 6144 "));
  options.rate = 10'000'000'000;
  EXPECT_TRUE(has(node_shapes(options, 0), "rate 10000000000bit burst 125000 "));
}

TEST(Options, SingleNodesAndRacksHaveRatesOfTheirOwn) {
  Options options = small(4, 1);
  options.racks = 2;
  for (const char* rate : {"node3=50mbit", "100mbit"}) set_rate(options, rate);
  for (const char* uplink : {"20mbit", "rack1=10mbit"}) set_uplink(options, uplink);
  EXPECT_EQ(rate_of(options, 0), 100'000'000);
  EXPECT_EQ(rate_of(options, 3), 50'000'000);
  EXPECT_TRUE(has(node_shapes(options, 2), "rate 100000000bit "));
  EXPECT_TRUE(has(node_shapes(options, 3), "rate 50000000bit "));
  EXPECT_EQ(uplink_of(options, 0), 20'000'000);
  EXPECT_EQ(uplink_of(options, 1), 10'000'000);
  EXPECT_THROW(set_rate(options, "node4=50mbit"), std::invalid_argument);
  EXPECT_THROW(set_rate(options, "node3=fast"), std::invalid_argument);
  EXPECT_THROW(set_uplink(options, "rack2=50mbit"), std::invalid_argument);
  options.racks = 0;
  EXPECT_THROW(set_uplink(options, "rack0=50mbit"), std::invalid_argument);
}

TEST(Network, EveryNodeHasItsOwnAddress) {
  EXPECT_EQ(address_of(0), "10.77.0.1");
  EXPECT_EQ(address_of(249), "10.77.0.250");
  EXPECT_EQ(address_of(250), "10.77.1.1");
  EXPECT_EQ(hosts_text(2), "127.0.0.1 localhost\n10.77.0.1 node0\n10.77.0.2 node1\n");
}

}  // namespace
}  // namespace quadrille::cluster
