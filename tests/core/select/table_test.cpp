#include "select/table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "select/guide.hpp"

namespace quadrille {
namespace {

constexpr const char* sample =
    "# quadrille table 1\n"
    "# ours\n"
    "\n"
    "[Open MPI v4.1.4, 64 ranks, 16 nodes]\n"
    "# measured on node0\n"
    "allreduce             4096-65536       hierarchical  # 0.28-0.31 of native's time\n"
    "bcast                 1048576          pipelined_chain  segment 16384  # 0.50 of native's time (0.48-0.53)\n"
    "barrier               0                dissemination\n"
    "\n"
    "[MPICH 4.0.2, 2 ranks, 1 nodes]\n"
    "alltoall              8-64             bruck:4\n"
    "alltoall              65-100           linear\n";

std::string complaint(const std::string& text) {
  try {
    parse_table(text, "a.table");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

// Of a line under a head.
std::string complaint_of(const std::string& line) {
  return complaint("# quadrille table 1\n[MPICH 4.0.2, 2 ranks, 1 nodes]\n\n" + line + "\n");
}

TEST(Table, IsReadAsItWasWritten) {
  const Table table = parse_table(sample, "a.table");
  EXPECT_EQ(to_text(table), sample);
  ASSERT_EQ(table.sections.size(), 2U);
  const Section& first = table.sections.front();
  EXPECT_EQ(first.mpi, "Open MPI v4.1.4");
  EXPECT_EQ(first.ranks, 64);
  EXPECT_EQ(first.nodes, 16);
  EXPECT_EQ(first.lines[1].rule.variant.segment, 16384);
  EXPECT_EQ(first.lines[1].rule.from, 1048576);
  EXPECT_EQ(first.lines[1].rule.to, 1048576);
  EXPECT_EQ(table.sections[1].lines[0].rule.variant.width, 4);
}

TEST(Table, MayBeWrittenByHand) {
  const Table table = parse_table(
      "# quadrille table 1\r\n[ An MPI, or so 5 ,2 ranks,1 node ]\r\n\tbcast 8 binomial# mine\r\n"
      "# below",
      "a.table");
  ASSERT_EQ(table.sections.size(), 1U);
  EXPECT_EQ(table.sections[0].mpi, "An MPI, or so 5");
  EXPECT_EQ(table.sections[0].lines.at(0).note, "mine");
  EXPECT_EQ(table.sections[0].comments.at(0), "below");
}

TEST(Table, ErrorsNameTheLineAndWhatIsExpectedThere) {
  EXPECT_EQ(complaint("bcast 8 binomial\n"),
            "a.table:1: expected '# quadrille table 1', the first line of such a file");
  EXPECT_EQ(complaint("# quadrille table 2\n").substr(0, 21), "a.table:1: expected '");
  EXPECT_EQ(complaint("# quadrille table 1\n\nbcast 8 binomial\n"),
            "a.table:3: expected [MPI and its version, N ranks, N nodes] before the first rule");
  EXPECT_EQ(complaint("# quadrille table 1\n[MPICH 4.0.2, 2 ranks, 1 nodes\n"), "a.table:2: expected a ']' at the end");
  const std::string head = "a.table:2: expected [MPI and its version, N ranks, N nodes]";
  for (const char* wrong : {"[]", "[MPICH 4.0.2]", "[MPICH 4.0.2, 2 ranks]", "[MPICH 4.0.2, 1 nodes, 2 ranks]",
                            "[MPICH 4.0.2, 0 ranks, 1 nodes]", "[MPICH 4.0.2, 2 ranks, 1 nodes too]"}) {
    EXPECT_EQ(complaint(std::string("# quadrille table 1\n") + wrong + "\n"), head) << wrong;
  }
  EXPECT_EQ(complaint_of("broadcast 8 binomial"), "a.table:4: expected a collective that 'quadrille list' shows");
  for (const char* wrong : {"bcast", "bcast binomial", "bcast 8- binomial", "bcast 9-8 binomial", "bcast -8 binomial",
                            "bcast 8k binomial", "bcast 99999999999999999999 binomial"}) {
    EXPECT_EQ(complaint_of(wrong), "a.table:4: expected bytes behind the collective, as 8 or 4096-65536") << wrong;
  }
  EXPECT_EQ(complaint_of("bcast 8 ring"), "a.table:4: expected an algorithm of bcast that 'quadrille list' shows");
  EXPECT_EQ(complaint_of("bcast 8").substr(0, 41), "a.table:4: expected an algorithm of bcast");
  EXPECT_EQ(complaint_of("alltoall 8 bruck:1").substr(0, 34), "a.table:4: expected another number");
  for (const char* wrong : {"segment", "segment 0", "segment x"}) {
    EXPECT_EQ(complaint_of(std::string("bcast 8 binomial ") + wrong),
              "a.table:4: expected 'segment' and its bytes behind the algorithm");
  }
  for (const char* wrong : {"segment 8 more", "chunk 8"}) {
    EXPECT_EQ(complaint_of(std::string("bcast 8 binomial ") + wrong),
              "a.table:4: expected 'segment', 'seconds', 'native', 'calls' or 'when' behind the algorithm, or nothing "
              "more");
  }
  for (const char* wrong :
       {"seconds", "seconds x", "seconds -1", "seconds inf", "seconds nan", "native 1e999", "calls 1.5", "calls -1",
        "when", "when now", "when 2026-11-15 12:00:00", "when -", "when 2026-11-15T12:00:00Z calls"}) {
    EXPECT_EQ(complaint_of(std::string("bcast 8 binomial ") + wrong).substr(0, 21), "a.table:4: expected a") << wrong;
  }
  EXPECT_EQ(complaint_of("bcast 8 native segment 8").substr(0, 29), "a.table:4: expected 'segment'");
}

TEST(Table, WhatNotAllRanksKnowTheSizeOfHasNoRules) {
  EXPECT_FALSE(sizes_are_known(Collective::alltoallv));
  EXPECT_TRUE(sizes_are_known(Collective::reduce_scatter));
  EXPECT_TRUE(sizes_are_known(Collective::allgatherv));
  EXPECT_EQ(complaint_of("alltoallv 8 linear"),
            "a.table:4: expected another collective: not all ranks know the size of alltoallv");
}

TEST(Table, ASizeHasOneRule) {
  EXPECT_EQ(complaint_of("bcast 8-64 binomial\nbcast 64-100 linear"),
            "a.table:5: expected sizes that no rule above has: 8-64 bytes have one");
  EXPECT_EQ(complaint_of("bcast 8-64 binomial\n[MPICH 4.0.2, 2 ranks, 1 nodes]\nbcast 1-9 linear").substr(0, 9),
            "a.table:6");
  EXPECT_EQ(complaint_of("bcast 8-64 binomial\n[MPICH 4.0.2, 3 ranks, 1 nodes]\nbcast 1-9 linear"), "");
  EXPECT_EQ(complaint_of("bcast 8-64 binomial\nbcast 65-99 linear\nbcast 1-7 linear"), "");
}

TEST(Table, TheMpisOwnFunctionMayBeFastest) {
  const std::string text =
      "# quadrille table 1\n\n[MPICH 4.0.2, 2 ranks, 1 nodes]\n"
      "bcast                 8                native\n"
      "bcast                 9-64             binomial  seconds 1.5e-05  native 2e-05  calls 400  when "
      "2026-11-15T12:00:00Z  # so it is\n"
      "allreduce             0-7              native  seconds 1e-06  native 1e-06\n";
  const Table table = parse_table(text, "a.table");
  EXPECT_EQ(to_text(table), text);
  const std::vector<Section::Line>& lines = table.sections.at(0).lines;
  EXPECT_FALSE(lines.at(0).rule.variant);
  EXPECT_EQ(lines.at(1).seconds, 1.5e-5);
  EXPECT_EQ(lines.at(1).native_seconds, 2e-5);
  EXPECT_EQ(lines.at(1).calls, 400);
  EXPECT_EQ(lines.at(1).when, "2026-11-15T12:00:00Z");
  const Guide guide(rules_under(table, "MPICH 4.0.2"), 2, 1);
  EXPECT_TRUE(guide.knows(Collective::allreduce));
  ASSERT_NE(guide.find(Collective::bcast, 8), nullptr);
  EXPECT_FALSE(guide.find(Collective::bcast, 8)->variant);
}

TEST(Table, WhatIsWrongMayBeSkipped) {
  std::vector<std::string> complaints;
  const Table table = parse_table(
      "# quadrille table 1\n[MPICH 4.0.2, 2 ranks, 1 nodes]\nbcast 8 nonsense\nbcast 8 linear\nbcast 7-9 binomial\n"
      "[nowhere]\nbcast 10 linear\n[MPICH 4.0.2, 3 ranks, 1 nodes]\nbcast 8 linear\n",
      "a.table", complaints);
  ASSERT_EQ(table.sections.size(), 2U);
  EXPECT_EQ(table.sections[0].lines.size(), 1U);
  EXPECT_EQ(table.sections[1].lines.size(), 1U);
  ASSERT_EQ(complaints.size(), 4U);
  EXPECT_EQ(complaints[0].substr(0, 10), "a.table:3:");
  EXPECT_EQ(complaints[3].substr(0, 10), "a.table:7:");
  EXPECT_THROW(parse_table("\x7f"
                           "ELF",
                           "a.table", complaints),
               std::invalid_argument);
}

TEST(Table, AFileThatIsNotThereIsNamedAndAnEmptyOneHasNoRules) {
  EXPECT_THROW(read_table("/no/such/file"), std::invalid_argument);
  EXPECT_THROW(read_table("/"), std::invalid_argument);
  EXPECT_TRUE(read_table("/dev/null").sections.empty());
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "quadrille_table_test";
  std::ofstream(file).flush();
  EXPECT_TRUE(read_table(file).sections.empty());
  std::ofstream(file) << sample;
  EXPECT_EQ(to_text(read_table(file)), sample);
  std::filesystem::remove(file);
}

TEST(Table, WhatIsMeasuredAgainTakesThePlaceOfTheOldAndLeavesTheRest) {
  Table table = parse_table(sample, "a.table");
  const Variant ring = variant_named(Collective::allreduce, "ring");
  Section again = {.mpi = "Open MPI v4.1.4", .ranks = 64, .nodes = 16, .comments = {"again"}, .lines = {}};
  again.lines.push_back({.rule = {.collective = Collective::allreduce, .from = 8, .to = 8, .variant = ring}});
  const std::array measured = {Collective::allreduce, Collective::barrier};
  put(table, again, measured);
  ASSERT_EQ(table.sections.size(), 3U);
  ASSERT_EQ(table.sections[0].lines.size(), 1U);
  EXPECT_EQ(table.sections[0].lines[0].rule.collective, Collective::bcast);
  EXPECT_EQ(table.sections[1].lines.size(), 2U);
  EXPECT_EQ(table.sections[2].comments.at(0), "again");
  // Another number of nodes is another place.
  again.nodes = 8;
  put(table, again, measured);
  EXPECT_EQ(table.sections.size(), 4U);
  // Of what has no rules left, nothing is left.
  again.nodes = 16;
  put(table, again, measured);
  EXPECT_EQ(table.sections.size(), 4U);
  EXPECT_EQ(to_text(parse_table(to_text(table), "a.table")), to_text(table));
}

TEST(Table, ACommentStaysInItsLine) {
  Table table;
  table.sections.push_back(
      {.mpi = "MPICH 4.0.2", .ranks = 2, .nodes = 1, .comments = {"bench 'a\nbcast 8 ring'"}, .lines = {}});
  EXPECT_EQ(parse_table(to_text(table), "a.table").sections.at(0).comments.at(0), "bench 'a bcast 8 ring'");
}

TEST(Guide, HasTheRulesOfItsMpiItsRanksAndItsNodes) {
  const Table table = parse_table(sample, "a.table");
  EXPECT_TRUE(rules_under(table, "Open MPI v4.1.5").empty());
  const std::vector<PlacedRule> rules = rules_under(table, "Open MPI v4.1.4");
  EXPECT_EQ(rules.size(), 3U);
  EXPECT_TRUE(Guide(rules, 64, 8).empty());
  EXPECT_TRUE(Guide(rules, 2, 1).empty());
  const Guide guide(rules, 64, 16);
  EXPECT_FALSE(guide.empty());
  EXPECT_TRUE(guide.knows(Collective::barrier));
  EXPECT_FALSE(guide.knows(Collective::alltoall));
}

TEST(Guide, FindsTheRuleOfASize) {
  const Guide guide(rules_under(parse_table(sample, "a.table"), "MPICH 4.0.2"), 2, 1);
  const auto found = [&](std::int64_t bytes) {
    const Rule* rule = guide.find(Collective::alltoall, bytes);
    return rule ? rule->variant.algorithm().name : "";
  };
  EXPECT_EQ(found(0), "");
  EXPECT_EQ(found(7), "");
  EXPECT_EQ(found(8), "bruck");
  EXPECT_EQ(found(64), "bruck");
  EXPECT_EQ(found(65), "linear");
  EXPECT_EQ(found(100), "linear");
  EXPECT_EQ(found(101), "");
  EXPECT_EQ(guide.find(Collective::alltoall, 8)->variant.width, 4);
  EXPECT_EQ(guide.find(Collective::bcast, 8), nullptr);
}

}  // namespace
}  // namespace quadrille
