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

TEST(MachineFile, ItsNameSaysWhatKindOfMachineItIsFor) {
  EXPECT_EQ(file_name("node17.site.org", "Open MPI v4.1.4", "ethernet-10000", 2),
            "node_Open-MPI-v4.1.4_ethernet-10000_2-cores.json");
  EXPECT_EQ(file_name("r3i0n5", "MPICH 4.0.2", "infiniband", 64), "rin_MPICH-4.0.2_infiniband_64-cores.json");
  EXPECT_EQ(kind_of_machine("node17.site.org", "ethernet-10000", 2), "node_ethernet-10000_2-cores");
}

}  // namespace
}  // namespace quadrille::cost
