#include "cluster/slurm_files.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "cluster/options.hpp"

namespace quadrille::cluster {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Options cluster_of(int nodes, int slots, int racks) {
  Options options;
  options.nodes = nodes;
  options.slots = slots;
  options.racks = racks;
  return options;
}

TEST(SlurmFiles, ANodeHasACoreForEachSlot) {
  const std::string text = slurm_configuration(cluster_of(7, 3, 0));
  EXPECT_TRUE(contains(text, "\nNodeName=node[0-6] CPUs=3 Sockets=1 CoresPerSocket=3 ThreadsPerCore=1\n")) << text;
  EXPECT_FALSE(contains(text, "TopologyPlugin")) << text;
}

TEST(SlurmFiles, EveryPathIsOnTheNodeItself) {
  const std::string text = slurm_configuration(cluster_of(2, 1, 0));
  const std::regex path("=(/[^/\n]*/[^/\n]*)");
  for (auto one = std::sregex_iterator(text.begin(), text.end(), path); one != std::sregex_iterator(); ++one) {
    const std::string found = (*one)[1];
    EXPECT_TRUE(found == "/dev/shm" || found == "/bin/true") << text;
  }
}

TEST(SlurmFiles, RacksAreSwitchesOfConsecutiveNodes) {
  const Options options = cluster_of(7, 1, 3);
  EXPECT_TRUE(contains(slurm_configuration(options), "\nTopologyPlugin=topology/tree\n"));
  EXPECT_EQ(slurm_topology(options),
            "SwitchName=rack0 Nodes=node[0-2]\n"
            "SwitchName=rack1 Nodes=node[3-4]\n"
            "SwitchName=rack2 Nodes=node[5-6]\n"
            "SwitchName=core Switches=rack[0-2]\n");
}

}  // namespace
}  // namespace quadrille::cluster
