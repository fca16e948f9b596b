#include <gtest/gtest.h>

#include <stdexcept>

#include "knowledge/library.hpp"
#include "native/rules.hpp"

namespace quadrille::native {
namespace {

using nlohmann::ordered_json;

// Two launches of ten repeats around a time.
std::vector<std::vector<double>> around(double seconds, double drift = 0) {
  std::vector<std::vector<double>> launches(2);
  for (int i = 0; i < 10; ++i) {
    launches[0].push_back(seconds * (1 + 0.001 * i));
    launches[1].push_back(seconds * (1 + 0.001 * i) * (1 + drift));
  }
  return launches;
}

Report report_on(Library library, int ranks) {
  Report report;
  report.library = library;
  report.provenance.mpi = "an MPI 1.0";
  report.provenance.ranks = ranks;
  report.provenance.nodes = 1;
  report.complete = true;
  return report;
}

void put(Report& report, const Algorithm& algorithm, std::int64_t bytes, double seconds, double drift = 0) {
  for (std::vector<double>& launch : around(seconds, drift)) report.add(algorithm, bytes, std::move(launch));
}

const Algorithm usual{.collective = "allreduce", .name = "default"};
const Algorithm doubling{.collective = "allreduce", .name = "recursive_doubling", .number = 3};
const Algorithm ring{.collective = "allreduce", .name = "ring", .number = 4};

TEST(Algorithms, AreThoseThatOpenMpiLists) {
  const std::string info =
      "mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:0:ignore\n"
      "mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:3:pipeline\n"
      "mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:12:new_one\n"
      "mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:9:other\n";
  const std::vector<Algorithm> all = openmpi_algorithms("bcast", info, {8192});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].name, "pipeline:8192");
  EXPECT_EQ(all[1].segment, 8192);
  EXPECT_EQ(all[2].number, 12);
  EXPECT_FALSE(all[2].needs.commutative);
  // A reduction that nothing is known of may need an operation that commutes.
  EXPECT_TRUE(openmpi_algorithms("allreduce", info, {}).front().needs.commutative);
}

TEST(Algorithms, AreInATableWhereNothingIsListed) {
  EXPECT_EQ(openmpi_algorithms("allreduce", "", {}).size(), 6U);
  EXPECT_EQ(openmpi_algorithms("allreduce", "", {1024, 4096}).size(), 8U);
  EXPECT_EQ(openmpi_algorithms("gather", "", {}).size(), 0U);
  for (Library library : {Library::openmpi, Library::mpich}) {
    for (const std::string& collective : tunable_collectives(library)) {
      const std::vector<Algorithm> all =
          library == Library::openmpi ? openmpi_algorithms(collective, "", {}) : mpich_algorithms(collective, "");
      EXPECT_GE(all.size(), 2U) << collective;
    }
  }
}

TEST(Algorithms, AreThoseThatMpichsLibraryNames) {
  const std::string zero(1, '\0');
  const std::string library = "x" + zero + "algorithm=MPIR_Barrier_intra_k_dissemination" + zero +
                              "algorithm=MPIR_Barrier_allcomm_nb" + zero + "algorithm=MPIR_Barrier_intra_smpx" + zero;
  const std::vector<Algorithm> all = mpich_algorithms("barrier", library);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "k_dissemination");
  EXPECT_EQ(all[0].parameters, (std::vector<std::string>{"k=2"}));
  EXPECT_EQ(all[1].name, "nb");
  EXPECT_TRUE(all[1].parameters.empty());
}

TEST(Algorithms, AreForcedByVariables) {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  const Algorithm chain{.collective = "bcast", .name = "chain:1024", .number = 2, .segment = 1024};
  EXPECT_EQ(forcing(Library::openmpi, chain), (Variables{{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                                                         {"OMPI_MCA_coll_tuned_bcast_algorithm", "2"},
                                                         {"OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize", "1024"},
                                                         {"OMPI_MCA_coll_tuned_bcast_algorithm_chain_fanout", "4"}}));
  EXPECT_EQ(forcing(Library::mpich, doubling),
            (Variables{{"MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE", "0"},
                       {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "recursive_doubling"}}));
  for (Library library : {Library::openmpi, Library::mpich}) {
    for (const auto& [variable, value] : forcing(library, doubling)) {
      EXPECT_TRUE(knowledge::changes_choices(variable)) << variable;
    }
  }
}

TEST(Algorithms, MayNeedANumberOfRanks) {
  EXPECT_TRUE(Needs{}.can_run_on(7));
  EXPECT_FALSE(Needs{.power_of_two = true}.can_run_on(7));
  EXPECT_TRUE(Needs{.power_of_two = true}.can_run_on(8));
  EXPECT_FALSE(Needs{.two_ranks = true}.can_run_on(8));
}

TEST(Report, IsReadAsItWasWritten) {
  Report report = report_on(Library::mpich, 8);
  put(report, usual, 1024, 1e-3, 0.5);
  put(report, doubling, 1024, 5e-4);
  report.skipped.push_back({"allreduce", "smp", 8, "exit status 1"});
  report.trees = Trees{ordered_json::parse(R"({"b": 1, "a": 2})"), nullptr};
  const Report again = report_from_json(to_json(report));
  EXPECT_EQ(to_json(again), to_json(report));
  ASSERT_EQ(again.points.size(), 2U);
  // From the fastest launch's interval to the slowest one's.
  const measure::Interval time = again.points[0].time();
  EXPECT_LT(time.low, 1.003e-3);
  EXPECT_GT(time.high, 1.5e-3);
  for (const char* wrong : {"", "{}", "[]", R"({"format": "quadrille tune --native"})"}) {
    EXPECT_THROW(report_from_json(wrong), std::invalid_argument) << wrong;
  }
}

TEST(Rules, AreForClearWinnersOnly) {
  Report report = report_on(Library::openmpi, 4);
  put(report, usual, 64, 1.0);
  put(report, doubling, 64, 0.97);  // too little
  put(report, usual, 128, 1.0, -0.5);
  put(report, doubling, 128, 0.9);  // the default was as fast once
  put(report, usual, 256, 1.0);
  put(report, doubling, 256, 0.8);
  put(report, usual, 512, 1.0);
  report.add(doubling, 512, {0.1, 0.1, 0.1});  // too few repeats
  report.add(doubling, 512, {0.1, 0.1});
  put(report, usual, 1024, 1.0);
  report.add(doubling, 1024, std::vector<double>(9, 0.1));  // one launch only
  const Rules rules = rules_of({report});
  ASSERT_EQ(rules.list.size(), 1U);
  EXPECT_EQ(rules.list[0].range.from, 256);
  EXPECT_EQ(rules.list[0].range.to, 256);
  EXPECT_EQ(to_text(rules.list[0]).substr(0, 59), "allreduce, 256 B on 4 ranks: recursive_doubling, 0.8 of the");
}

TEST(Rules, LeaveOutWhatIsWrongForOperationsThatDontCommute) {
  Report report = report_on(Library::openmpi, 4);
  put(report, usual, 64, 1.0);
  put(report, ring, 64, 0.5);
  put(report, doubling, 64, 0.8);
  Rules rules = rules_of({report});
  ASSERT_EQ(rules.list.size(), 1U);
  EXPECT_EQ(rules.list[0].algorithm.name, "recursive_doubling");
  EXPECT_EQ(rules.withheld, 1);
  rules = rules_of({report}, {.commutative = true});
  EXPECT_EQ(rules.list.at(0).algorithm.name, "ring");
  EXPECT_EQ(rules.withheld, 0);
}

TEST(OpenMpiFile, KeepsTheDefaultOnOtherRanksAndSizes) {
  Report four = report_on(Library::openmpi, 4);
  for (std::int64_t bytes : {64, 128, 256, 512}) {
    put(four, usual, bytes, 1.0);
    put(four, doubling, bytes, bytes == 512 ? 1.0 : 0.5);
  }
  const Algorithm own{.collective = "allgather", .name = "default"};
  const Algorithm bruck{.collective = "allgather", .name = "bruck", .number = 2};
  put(four, own, 8, 1.0);
  put(four, bruck, 8, 0.5);
  Report five = report_on(Library::openmpi, 5);
  put(five, usual, 0, 1.0);
  put(five, doubling, 0, 0.5);
  std::string file = openmpi_file(rules_of({five, four}).list, {"a comment"});
  for (std::size_t hash = file.find('#'); hash != std::string::npos; hash = file.find('#')) {
    file.erase(hash, file.find('\n', hash) - hash);
  }
  std::string numbers;
  for (char c : file) {
    const char next = c == '\n' ? ' ' : c;
    if (next != ' ' || (!numbers.empty() && numbers.back() != ' ')) numbers += next;
  }
  EXPECT_EQ(numbers,
            "2 "
            "0 3 0 1 0 0 0 0 4 3 0 0 0 0 32 2 4 0 33 0 0 0 5 1 0 0 0 0 "
            "2 4 0 1 0 0 0 0 4 3 0 0 0 0 64 3 4 0 257 0 0 0 5 2 0 3 4 0 1 0 0 0 6 1 0 0 0 0 ");
}

const char* const mpich_default = R"({
  "collective=allreduce": {"comm_type=intra": {"algorithm=MPIR_A": {}}, "comm_type=inter": {"algorithm=MPIR_B": {}}},
  "collective=alltoall": {"comm_type=intra": {"algorithm=MPIR_C": {}}}})";
const char* const device_default = R"({
  "collective=allreduce": {"comm_type=intra": {"comm_size=any": {"composition=MPIDI_alpha": {}}}}})";

TEST(Trees, AreFoundInTheLibrary) {
  const std::string zero(1, '\0');
  const auto compact = [](const char* text) { return ordered_json::parse(text).dump(); };
  const auto trees =
      trees_in("x" + zero + compact(device_default) + zero + "{\"collective=" + zero + compact(mpich_default) + zero);
  ASSERT_TRUE(trees);
  EXPECT_EQ(trees->own, ordered_json::parse(mpich_default));
  EXPECT_EQ(trees->device, ordered_json::parse(device_default));
  EXPECT_FALSE(trees_in(compact(device_default)));
  EXPECT_FALSE(trees_in(""));
}

TEST(MpichFile, HasTheRulesInFrontOfTheDefault) {
  Report report = report_on(Library::mpich, 4);
  const Algorithm smp{.collective = "allreduce", .name = "smp"};
  put(report, usual, 64, 1.0);
  put(report, smp, 64, 0.5);
  const Trees trees =
      with_rules({ordered_json::parse(mpich_default), ordered_json::parse(device_default)}, rules_of({report}).list);
  const auto parsed = [](const char* text) { return ordered_json::parse(text).dump(); };
  EXPECT_EQ(trees.own["collective=allreduce"]["comm_type=intra"].dump(), parsed(R"({
      "comm_size<=3": {"algorithm=MPIR_A": {}},
      "comm_size<=4": {
        "avg_msg_size<=63": {"algorithm=MPIR_A": {}},
        "avg_msg_size<=64": {
          "comm_hierarchy=parent": {
            "is_commutative=yes": {"algorithm=MPIR_Allreduce_intra_smp": {}},
            "is_commutative=no": {"algorithm=MPIR_A": {}}},
          "comm_hierarchy=any": {"algorithm=MPIR_A": {}}},
        "avg_msg_size=any": {"algorithm=MPIR_A": {}}},
      "comm_size=any": {"algorithm=MPIR_A": {}}})"));
  EXPECT_EQ(trees.own["collective=allreduce"]["comm_type=inter"].dump(), R"({"algorithm=MPIR_B":{}})");
  EXPECT_EQ(trees.own["collective=alltoall"].dump(), R"({"comm_type=intra":{"algorithm=MPIR_C":{}}})");
  const ordered_json device =
      trees.device["collective=allreduce"]["comm_type=intra"]["comm_size<=4"]["avg_msg_size<=64"];
  EXPECT_EQ(device["comm_hierarchy=parent"]["is_commutative=yes"].dump(),
            R"({"comm_type=inter":{"composition=MPIDI_alpha":{}}})");
  EXPECT_EQ(device["comm_hierarchy=any"].dump(), R"({"comm_size=any":{"composition=MPIDI_alpha":{}}})");
}

TEST(MpichFile, SetsTheParametersOfAnAlgorithm) {
  Report report = report_on(Library::mpich, 4);
  put(report, usual, 64, 1.0);
  put(report, {.collective = "allreduce", .name = "recexch"}, 64, 0.5);
  const Trees trees = with_rules({ordered_json::parse(mpich_default), nullptr}, rules_of({report}).list);
  EXPECT_EQ(trees.own["collective=allreduce"]["comm_type=intra"]["comm_size<=4"]["avg_msg_size<=64"].dump(),
            R"({"algorithm=MPIR_Allreduce_intra_recexch":{"k=2":{},"single_phase_recv=0":{}}})");
}

TEST(MpichFile, CountsSizesAsMpichDoes) {
  Report report = report_on(Library::mpich, 4);
  const Algorithm own{.collective = "alltoall", .name = "default"};
  const Algorithm brucks{.collective = "alltoall", .name = "brucks"};
  const Algorithm nb{.collective = "alltoall", .name = "nb"};
  for (std::int64_t bytes : {4096, 8192}) {
    put(report, own, bytes, 1.0);
    put(report, bytes == 4096 ? brucks : nb, bytes, 0.5);
  }
  const Trees trees = with_rules({ordered_json::parse(mpich_default), nullptr}, rules_of({report}).list);
  EXPECT_TRUE(trees.device.is_null());
  const ordered_json sizes = trees.own["collective=alltoall"]["comm_type=intra"]["comm_size<=4"];
  std::vector<std::string> keys;
  for (const auto& [key, below] : sizes.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"avg_msg_size<=1023", "avg_msg_size<=1024", "avg_msg_size<=2047",
                                            "avg_msg_size<=2048", "avg_msg_size=any"}));
  EXPECT_EQ(sizes["avg_msg_size<=1024"]["is_sendbuf_inplace=yes"].dump(), R"({"algorithm=MPIR_C":{}})");
  EXPECT_EQ(sizes["avg_msg_size<=2048"].dump(), R"({"algorithm=MPIR_Alltoall_allcomm_nb":{}})");
  EXPECT_THROW(with_rules({ordered_json::object(), nullptr}, rules_of({report}).list), std::invalid_argument);
}

TEST(MpichFile, NeverEndsWithAPage) {
  for (std::size_t length = 4000; length < 4100; ++length) {
    const std::string file = mpich_file(ordered_json::object(), {std::string(length, '*') + "/"});
    EXPECT_NE(file.size() % 4096, 0U);
    EXPECT_EQ(file.find("*/"), file.rfind("*/"));
  }
}

}  // namespace
}  // namespace quadrille::native
