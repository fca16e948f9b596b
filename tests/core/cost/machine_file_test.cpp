#include "cost/machine_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "cost/built_in.hpp"

namespace quadrille::cost {
namespace {

std::string complaint(const std::string& text) {
  try {
    parse_machine(text, "x.json", built_in());
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(MachineFile, IsReadAsItWasWritten) {
  Machine machine{.model = built_in(NetworkKind::bypass, 200000), .from = "a test"};
  machine.model.network.latency = 1.5e-6;
  machine.model.cores = 48;
  machine.model.one_machine = true;
  machine.intervals["network.latency_us"] = {1.4, 1.6};
  const Machine read = parse_machine(to_json(machine), "x.json", Model{});
  EXPECT_EQ(to_json(read), to_json(machine));
  EXPECT_EQ(read.from, "a test");
  EXPECT_DOUBLE_EQ(read.model.network.latency, 1.5e-6);
  EXPECT_DOUBLE_EQ(read.model.network.wire, 8e-6 / 200000);
  EXPECT_EQ(read.model.cores, 48);
  EXPECT_TRUE(read.model.one_machine);
  EXPECT_EQ(read.intervals.at("network.latency_us")[1], 1.6);
}

TEST(MachineFile, MayBeWrittenByHandWithAFewNumbers) {
  const Machine read =
      parse_machine(R"({"format": "quadrille machine 1", "network": {"wire_ns_per_byte": 160}})", "x.json", built_in());
  EXPECT_DOUBLE_EQ(read.model.network.wire, 160e-9);
  EXPECT_DOUBLE_EQ(read.model.node.latency, built_in().node.latency);
}

TEST(MachineFile, ErrorsNameTheFileAndTheNumber) {
  EXPECT_NE(complaint("{").find("x.json: "), std::string::npos);
  for (const char* text : {"[]", "3", R"({"format": 3})", R"({"format": ["quadrille machine 1"]})"}) {
    EXPECT_NE(complaint(text).find("x.json: not a machine file"), std::string::npos) << text;
  }
  EXPECT_EQ(complaint(R"({"format": "quadrille machine 1", "from": 3, "intervals": {"a": ["b", 1]}})"), "");
  EXPECT_NE(complaint("{}").find("quadrille probe writes one"), std::string::npos);
  EXPECT_EQ(complaint(R"({"format": "quadrille machine 1", "node": {"speed": 1}})"),
            "x.json: node.speed: there is no such number");
  EXPECT_EQ(complaint(R"({"format": "quadrille machine 1", "node": {"latency_us": "1"}})"),
            "x.json: node.latency_us: expected a number of at least 0");
  EXPECT_EQ(complaint(R"({"format": "quadrille machine 1", "node": 3})"), "x.json: node: expected an object");
  EXPECT_THROW(read_machine("/nowhere/x.json", Model{}), std::invalid_argument);
}

Machine with_pairs() {
  Machine machine{.model = built_in(), .from = "a test"};
  machine.pairs = {.source = "a probe",
                   .nodes = {{"a", 5e6, 5e6, 0}, {"b", 5e6, 5e6, 0}, {"c", 1e6, 5e6, 1}, {"d", 5e6, 5e6, 1}},
                   .racks = {{"left", 2e6, 2e6}, {"right", 2e6, 1.5e6}},
                   .levels = {{"network", {50e-6, 5e6}}, {"rack", {80e-6, 2e6}}, {"node", {1e-6, 3e9}}},
                   .measured = {{0, 1, {40e-6, 4e6}}, {1, 0, {40e-6, 4.5e6}}}};
  return machine;
}

TEST(MachineFile, HasPairsOfNodes) {
  const Machine machine = with_pairs();
  const Machine read = parse_machine(to_json(machine), "x.json", Model{});
  EXPECT_EQ(to_json(read), to_json(machine));
  EXPECT_EQ(read.pairs.source, "a probe");
  EXPECT_EQ(read.pairs.nodes[2].name, "c");
  EXPECT_EQ(read.pairs.nodes[2].rack, 1);
}

TEST(MachineFile, PairsThatWereNotMeasuredAreAsUsualOnTheirLinks) {
  const Machine machine = with_pairs();
  EXPECT_DOUBLE_EQ(between(machine, "a", "b").rate, 4e6);
  EXPECT_DOUBLE_EQ(between(machine, "b", "a").rate, 4.5e6);
  EXPECT_DOUBLE_EQ(between(machine, "d", "c").rate, 5e6) << "of the level";
  EXPECT_DOUBLE_EQ(between(machine, "c", "d").rate, 1e6) << "of the node that sends";
  EXPECT_DOUBLE_EQ(between(machine, "a", "d").rate, 1.5e6) << "of the uplink";
  EXPECT_DOUBLE_EQ(between(machine, "d", "a").rate, 2e6);
  EXPECT_DOUBLE_EQ(between(machine, "a", "d").latency, 80e-6);
  EXPECT_DOUBLE_EQ(between(machine, "a", "a").rate, 3e9);
  EXPECT_DOUBLE_EQ(between(machine, "a", "elsewhere").rate, 1 / machine.model.network.wire);
}

TEST(MachineFile, ErrorsInPairsAreNamed) {
  const auto pairs = [](const std::string& text) {
    return complaint(R"({"format": "quadrille machine 1", "pairs": )" + text + "}");
  };
  EXPECT_EQ(pairs("3"), "x.json: pairs: expected an object");
  EXPECT_NE(
      pairs(R"({"nodes": [3]})").find("x.json: pairs.nodes: expected objects with a name; quadrille probe --pairs"),
      std::string::npos);
  EXPECT_NE(pairs(R"({"racks": [{"name": "r"}], "nodes": [{"name": "a", "rack": "s"}]})").find("no rack 's'"),
            std::string::npos);
  EXPECT_NE(pairs(R"({"nodes": [{"name": "a"}], "measured": [[0, 1, 2, 3]]})").find("pairs.measured"),
            std::string::npos);
  EXPECT_NE(pairs(R"({"nodes": [{"name": "a", "sends_mb_per_s": -1}]})").find("at least 0"), std::string::npos);
}

TEST(MachineFile, ItsNameSaysWhatKindOfMachineItIsFor) {
  EXPECT_EQ(file_name("node17.site.org", "Open MPI v4.1.4", "ethernet-10000", 2),
            "node_Open-MPI-v4.1.4_ethernet-10000_2-cores.json");
  EXPECT_EQ(file_name("r3i0n5", "MPICH 4.0.2", "infiniband", 64), "rin_MPICH-4.0.2_infiniband_64-cores.json");
  EXPECT_EQ(kind_of_machine("node17.site.org", "ethernet-10000", 2), "node_ethernet-10000_2-cores");
}

}  // namespace
}  // namespace quadrille::cost
