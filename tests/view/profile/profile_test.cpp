#include "profile/profile.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "draw/xml.hpp"
#include "profile/sample.hpp"

namespace quadrille::profile {
namespace {

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

std::string refusal(const std::string& text) {
  try {
    from_json(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

std::string fault_in(const std::string& html) {
  return draw::XmlCheck::fault(std::string_view(html).substr(html.find('\n') + 1));
}

TEST(Profile, HasAClassForEverySize) {
  EXPECT_EQ(size_class(0), 0U);
  EXPECT_EQ(size_class(1), 1U);
  EXPECT_EQ(size_class(64), 1U);
  EXPECT_EQ(size_class(65), 2U);
  EXPECT_EQ(size_class(std::int64_t{1} << 40), 6U);
}

TEST(Profile, NamesCommunicatorsByTheirRanks) {
  EXPECT_EQ((Communicator{"MPI_COMM_WORLD", 32, 1}.title()), "MPI_COMM_WORLD");
  EXPECT_EQ((Communicator{"MPI_COMM_SELF", 1, 32}.title()), "MPI_COMM_SELF");
  EXPECT_EQ((Communicator{"row", 4, 8}.title()), "row, 4 ranks x 8");
  EXPECT_EQ((Communicator{"", 1, 1}.title()), "unnamed, 1 rank");
  EXPECT_EQ((Communicator{"", 0, 7}.title()), "others");
}

TEST(Profile, IsTheSameAfterJson) {
  const std::string json = to_json(sample());
  EXPECT_EQ(to_json(from_json(json)), json);
  EXPECT_EQ(to_text(from_json(json)), to_text(sample()));
}

TEST(Profile, HasASchema) {
  const auto all = nlohmann::json::parse(to_json(sample()));
  EXPECT_EQ(all.at("format"), "quadrille report");
  EXPECT_EQ(all.at("format_version"), 2);
  for (const char* key : {"program", "mpi", "host", "date", "waits"}) EXPECT_TRUE(all.at(key).is_string()) << key;
  for (const char* key : {"ranks", "nodes", "peak_bytes"}) EXPECT_TRUE(all.at(key).is_number_integer()) << key;
  EXPECT_TRUE(all.at("wall_seconds").is_number());
  for (const auto& row : all.at("calls")) {
    EXPECT_LT(row.at("communicator").get<std::size_t>(), all.at("communicators").size());
    for (const char* key : {"calls", "replaced", "bytes"}) EXPECT_TRUE(row.at(key).is_number_integer()) << key;
    for (const char* key : {"seconds", "mean_seconds", "replaced_seconds"}) EXPECT_TRUE(row.at(key).is_number()) << key;
  }
  EXPECT_EQ(all.at("passed_through").at("bcast").at("not selected"), 640);
  const auto& learned = all.at("learned").at(0);
  EXPECT_EQ(learned.at("verdict"), "hierarchical");
  EXPECT_EQ(learned.at("tried").at(2).at("name"), "recursive_doubling");
  EXPECT_EQ(learned.at("changes").at(1).at("calls"), 120);
  EXPECT_EQ(learned.at("changes").at(1).at("verdict"), "native");
}

TEST(Profile, HasEmptyListsWhereNothingWasCalled) {
  const auto all = nlohmann::json::parse(to_json(Profile{}));
  for (const char* key : {"calls", "communicators", "collectives", "algorithms", "learned"}) {
    EXPECT_EQ(all.at(key), nlohmann::json::array()) << key;
  }
  EXPECT_EQ(all.at("passed_through"), nlohmann::json::object());
  EXPECT_EQ(fault_in(to_html(Profile{})), "");
}

TEST(Profile, ReadsReportsOfEarlierVersions) {
  const Profile profile = from_json(R"({"ranks":2,"peak_bytes":0,"waits":"MPI's","wall_seconds":2.0,
    "collectives":[{"collective":"bcast","mean_seconds":0.5,"largest_seconds":0.8}],
    "calls":[{"collective":"bcast","size":"1-64 B","calls":8,"replaced":2,"bytes":32,"seconds":0.6},
             {"collective":"bcast","size":"to 1 KiB","calls":4,"replaced":4,"bytes":4096,"seconds":0.2}],
    "algorithms":[{"collective":"bcast","algorithm":"linear","calls":6}],
    "passed_through":{"bcast":{"not selected":6}}})");
  ASSERT_EQ(profile.calls.size(), 2U);
  // The mean is shared out by the time of the slowest rank.
  EXPECT_DOUBLE_EQ(profile.calls[0].mean_seconds, 0.375);
  EXPECT_DOUBLE_EQ(profile.calls[1].mean_seconds, 0.125);
  EXPECT_DOUBLE_EQ(profile.calls[1].replaced_seconds, 0.125);
  EXPECT_TRUE(has(to_html(profile), "25 %"));
  EXPECT_EQ(fault_in(to_html(profile)), "");
  EXPECT_TRUE(has(to_text(profile), "linear"));
}

TEST(Profile, RefusesWhatIsNoReport) {
  EXPECT_EQ(refusal(""), "not JSON");
  EXPECT_EQ(refusal("[1]"), "not a report of quadrille run --report or QUADRILLE_REPORT");
  EXPECT_EQ(refusal(R"({"format":"quadrille bench","ranks":2,"passed_through":{}})"),
            "not a report of quadrille run --report or QUADRILLE_REPORT");
  EXPECT_EQ(refusal(R"({"format_version":3,"ranks":2,"passed_through":{}})"), "format_version: from a newer quadrille");
  EXPECT_TRUE(refusal(R"({"ranks":"two","passed_through":{}})").starts_with("not a report: "));
  EXPECT_EQ(
      refusal(R"({"format_version":2,"ranks":2,"passed_through":{},"calls":[{"collective":"x","communicator":1}]})"),
      "calls: there is no communicator 1");
}

TEST(Profile, AsTextAddsUpSizesAndCommunicators) {
  const std::string text = to_text(sample());
  EXPECT_TRUE(has(text, "6.00 s in them, mean of the ranks: 30.0 % of 20.0 s from MPI_Init to MPI_Finalize"));
  EXPECT_TRUE(has(text, "  allreduce             1-64 B           35200   275.0 KiB      3.50 s     18 %       85%\n"))
      << text;
  EXPECT_TRUE(has(text, "  row, 4 ranks x 8                        3200    25.0 KiB      500 ms    2.5 %        0%\n"))
      << text;
  EXPECT_TRUE(has(text, "learned in the run: saved about 68 ms of 150 ms against the MPI's own as measured\n")) << text;
}

TEST(Profile, HasRangesInRoundNumbers) {
  EXPECT_EQ(range_text(1024, 1024), "1 KiB");
  EXPECT_EQ(range_text(8, 15), "8 B to 15 B");
  EXPECT_EQ(range_text(65536, 81919), "64 KiB to below 80 KiB");
  EXPECT_EQ(range_text(4096, 16384), "4 KiB to 16 KiB");
}

TEST(Profile, HasEstimatesOfTwoDigits) {
  EXPECT_EQ(about_seconds(3.249), "3.2 s");
  EXPECT_EQ(about_seconds(0.0996), "100 ms");
  EXPECT_EQ(about_seconds(1234), "1200 s");
  EXPECT_EQ(about_seconds(19.95), "20 s");
  EXPECT_EQ(about_seconds(0), "0 s");
}

TEST(Profile, AddsUpWhatRowsOfAGridSavedSideBySide) {
  Profile profile = sample();
  profile.learned.assign(8, profile.learned[1]);  // 4 of 32 ranks each
  for (Learned& one : profile.learned) one.saved_seconds = 0.5;
  EXPECT_DOUBLE_EQ(profile.saved_seconds(), 0.5);
}

TEST(Profile, SaysWhatWasSaved) {
  Profile profile = sample();
  profile.learned[0].saved_seconds = 3.21;
  profile.learned[0].calls = 133000;
  EXPECT_EQ(saved_text(profile), "saved about 3.2 s of 20 s against the MPI's own as measured");
  profile.learned[0].saved_seconds = -0.011;
  EXPECT_EQ(saved_text(profile), "lost about 11 ms of 20 s against the MPI's own as measured");
  EXPECT_EQ(saved_text(Profile{}), "");
}

TEST(Profile, AsAPageHasAllOfIt) {
  const std::string html = to_html(sample());
  EXPECT_EQ(fault_in(html), "");
  for (const char* what :
       {"<h1>Collectives of lmp -in read.in</h1>", "32 ranks on 8 nodes", "row, 4 ranks x 8", "unnamed, 16 ranks x 2",
        "recursive_doubling", "the first calls on a communicator", "Learned in the run", "×0.52",
        "Saved about 68 ms of 150 ms against the MPI's own as measured", "outside of collectives"}) {
    EXPECT_TRUE(has(html, what)) << what;
  }
  Profile unlearned = sample();
  unlearned.learned.clear();
  EXPECT_FALSE(has(to_html(unlearned), "Learned"));
}

TEST(Profile, EscapesNamesThatAProgramGave) {
  Profile profile = sample();
  const std::string hostile = "</title><script>alert(1)</script>\" x='\x1b[2J\xff";
  profile.program = profile.host = profile.communicators[1].name = profile.learned[0].communicator = hostile;
  const std::string html = to_html(profile);
  EXPECT_EQ(fault_in(html), "");
  EXPECT_FALSE(has(html, "<script>alert"));
  EXPECT_FALSE(has(to_text(profile), "\x1b"));
  EXPECT_NO_THROW(from_json(to_json(profile)));
}

TEST(Profile, AsAPageOf2000RowsIsBelow300Kilobytes) {
  Profile profile = sample();
  profile.calls.clear();
  profile.communicators.clear();
  for (std::size_t i = 0; i < 2000; ++i) {
    profile.communicators.push_back({fmt::format("a communicator with quite a long name, number {}", i), 1024, 16});
    profile.calls.push_back({"reduce_scatter_block", "to 256 KiB", i, 123456789, 12345678, 1LL << 40, 0.5, 0.25, 0.75});
    profile.learned.push_back(profile.learned[0]);
  }
  const std::string html = to_html(profile);
  EXPECT_LT(html.size(), 300'000U);
  EXPECT_TRUE(has(html, "They are in the JSON file."));
  EXPECT_TRUE(has(html, "1990 others"));
}

}  // namespace
}  // namespace quadrille::profile
