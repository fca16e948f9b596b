#include "learn/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace quadrille::learn {
namespace {

namespace fs = std::filesystem;

constexpr const char* mpi = "Open MPI v4.1.4";
constexpr const char* monday = "2026-11-16T08:00:00Z";
constexpr const char* tuesday = "2026-11-17T08:00:00Z";
constexpr const char* wednesday = "2026-11-18T08:00:00Z";
constexpr uid_t somebody_else = 65534;

Finding bcast(std::int64_t from, std::int64_t to, const char* variant, const std::string& when, Rank ranks = 8) {
  return {.rule = {Collective::bcast, from, to, variant_named(Collective::bcast, variant)},
          .mpi = mpi,
          .ranks = ranks,
          .nodes = 2,
          .seconds = 1.5e-5,
          .native_seconds = 3e-5,
          .calls = 400,
          .when = when};
}

// As "8-64 linear, 65-99 native".
std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& one : findings) {
    if (!text.empty()) text += ", ";
    text += std::to_string(one.rule.from) + "-" + std::to_string(one.rule.to) + " " + name_of(one.rule);
  }
  return text;
}

std::vector<Rank> ranks_of(const std::vector<Finding>& findings) {
  std::vector<Rank> ranks;
  for (const Finding& one : findings) ranks.push_back(one.ranks);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<Rank> ranks_up_to(Rank last) {
  std::vector<Rank> ranks;
  for (Rank rank = 1; rank <= last; ++rank) ranks.push_back(rank);
  return ranks;
}

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder());
    fs::permissions(root_, fs::perms::all);  // for processes of other users
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string folder() const { return root_ / "a.learned"; }
  fs::path path(const std::string& name) const { return fs::path(folder()) / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    chmod(path(name).c_str(), 0644);
  }
  void write(const std::string& name, const std::vector<Finding>& findings) const {
    write(name, to_text(table_of(findings)));
  }
  std::vector<Finding> recalled() const { return recall(folder(), mpi).findings; }
  std::string complaint() const { return recall(folder(), mpi).complaint; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()));
  }

  // Each in a process of its own, all at once; they return what is wrong. Returns how many fail.
  static int in_processes(int count, const std::function<std::string(int)>& work) {
    std::vector<pid_t> children;
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        const std::string wrong = work(i);
        if (!wrong.empty()) fprintf(stderr, "%s\n", wrong.c_str());
        _exit(wrong.empty() ? 0 : 1);
      }
      children.push_back(child);
    }
    int failed = 0;
    for (const pid_t child : children) {
      int status = 1;
      waitpid(child, &status, 0);
      failed += status == 0 ? 0 : 1;
    }
    return failed;
  }

 private:
  fs::path root_ = fs::path(testing::TempDir()) / ("quadrille-memory-" + std::to_string(getpid()));
};

TEST(Merged, TheNewestCountsAndOfTheOldWhatItLeaves) {
  const auto of = [](const std::vector<Finding>& all) { return text_of(merged(all, wednesday, 100)); };
  EXPECT_EQ(of({bcast(0, 100, "linear", monday), bcast(10, 20, "", tuesday)}),
            "0-9 linear, 10-20 native, 21-100 linear");
  EXPECT_EQ(of({bcast(10, 20, "", monday), bcast(0, 100, "linear", tuesday)}), "0-100 linear");
  EXPECT_EQ(of({bcast(8, 8, "linear", monday), bcast(8, 8, "binomial", tuesday), bcast(8, 8, "", monday)}),
            "8-8 binomial");
  EXPECT_EQ(of({bcast(0, 9, "linear", monday), bcast(5, 14, "binomial", tuesday), bcast(12, 20, "", monday)}),
            "0-4 linear, 5-14 binomial, 15-20 native");
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(of({bcast(0, last, "linear", tuesday), bcast(8, last, "binomial", monday)}),
            "0-" + std::to_string(last) + " linear");
  // Other ranks are another matter.
  EXPECT_EQ(of({bcast(8, 8, "linear", monday, 4), bcast(8, 8, "binomial", tuesday, 5)}), "8-8 linear, 8-8 binomial");
}

TEST(Merged, AClockThatIsWrongDoesNotCountForEver) {
  const auto of = [](const std::vector<Finding>& all) { return text_of(merged(all, tuesday, 100)); };
  EXPECT_EQ(of({bcast(8, 8, "linear", "2999-01-01T00:00:00Z"), bcast(8, 8, "binomial", monday)}), "8-8 binomial");
  EXPECT_EQ(of({bcast(8, 8, "linear", ""), bcast(8, 8, "binomial", monday)}), "8-8 binomial");
  EXPECT_EQ(of({bcast(8, 8, "linear", wednesday), bcast(8, 8, "binomial", monday)}), "8-8 linear");
}

TEST(Merged, TheNewestAreKept) {
  std::vector<Finding> all;
  for (int i = 0; i < 10; ++i) all.push_back(bcast(i, i, "linear", i < 4 ? tuesday : monday));
  EXPECT_EQ(merged(all, wednesday, 4).size(), 4U);
  EXPECT_EQ(merged(all, wednesday, 4).back().rule.to, 3);
}

TEST_F(Memory, WhatIsRememberedIsRecalled) {
  Finding segmented = bcast(1 << 20, 1 << 22, "pipelined_chain", tuesday);
  segmented.rule.variant.segment = 65536;
  const std::vector<Finding> findings = {bcast(0, 8, "", monday), bcast(9, 4096, "binomial", tuesday), segmented};
  EXPECT_EQ(remember(folder(), findings), "");
  const Recalled all = recall(folder(), mpi);
  EXPECT_EQ(all.findings, findings);
  EXPECT_EQ(all.files, 1U);
  EXPECT_EQ(all.complaint, "");
  EXPECT_TRUE(recall(folder(), "MPICH 4.0.2").findings.empty());
  EXPECT_EQ(recall(folder(), "").findings.size(), 3U);
}

TEST_F(Memory, AJobThatWritesAgainReplacesItsOwnFile) {
  EXPECT_EQ(remember(folder(), {bcast(0, 8, "", monday), bcast(9, 9, "linear", monday)}), "");
  EXPECT_EQ(remember(folder(), {bcast(0, 8, "linear", tuesday)}), "");
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(text_of(recalled()), "0-8 linear, 9-9 linear");
}

TEST_F(Memory, WithoutATimeItIsOfNow) {
  EXPECT_EQ(remember(folder(), {bcast(0, 8, "", "")}), "");
  ASSERT_EQ(recalled().size(), 1U);
  EXPECT_TRUE(is_time(recalled()[0].when));
}

TEST_F(Memory, WithoutAFolderThereIsNone) {
  EXPECT_EQ(remember("", {bcast(0, 8, "", monday)}), "");
  EXPECT_TRUE(recall("", mpi).findings.empty());
  EXPECT_EQ(recall(folder() + "/no/such", mpi).complaint, "");
  EXPECT_EQ(forget("", {}).complaint, "");
  EXPECT_EQ(remember(folder() + "/is/made", {bcast(0, 8, "", monday)}), "");
  EXPECT_EQ(recall(folder() + "/is/made", mpi).findings.size(), 1U);
}

TEST_F(Memory, TenJobsThatEndAtOnceLoseNothing) {
  EXPECT_EQ(in_processes(10, [&](int i) { return remember(folder(), {bcast(0, 8, "linear", monday, 1 + i)}); }), 0);
  EXPECT_EQ(ranks_of(recalled()), ranks_up_to(10));
  EXPECT_EQ(files(), 10U);
}

TEST_F(Memory, ManyFilesBecomeOne) {
  for (int i = 1; i <= 40; ++i) {
    write("20261116T080000Z-node-" + std::to_string(i) + ".table", {bcast(0, 8, "linear", monday, i)});
  }
  write("99991231T235959Z-later.table", {bcast(0, 8, "linear", monday, 41)});
  write("20261116T080000Z-node-7.table.new-99", "half");
  fs::last_write_time(path("20261116T080000Z-node-7.table.new-99"),
                      fs::file_time_type::clock::now() - std::chrono::hours(48));
  EXPECT_EQ(remember(folder(), {bcast(0, 8, "linear", tuesday, 42)}), "");
  EXPECT_EQ(files(), 2U);
  EXPECT_EQ(ranks_of(recalled()), ranks_up_to(42));
  // What it took over stays when it writes again.
  EXPECT_EQ(remember(folder(), {bcast(0, 8, "binomial", wednesday, 42)}), "");
  EXPECT_EQ(files(), 2U);
  EXPECT_EQ(ranks_of(recalled()), ranks_up_to(42));
}

TEST_F(Memory, ManyThatMergeAtOnceLoseNothing) {
  for (int i = 1; i <= 50; ++i) {
    write("20261116T080000Z-node-" + std::to_string(i) + ".table", {bcast(0, 8, "linear", monday, i)});
  }
  constexpr int jobs = 12;
  constexpr int flushes = 10;
  const auto work = [&](int job) -> std::string {
    std::vector<Finding> mine;
    for (int i = 0; i < flushes; ++i) {
      mine.push_back(bcast(0, 8, "linear", monday, 51 + job * flushes + i));
      if (std::string wrong = remember(folder(), mine); !wrong.empty()) return wrong;
      // More files, so that all of them go on merging.
      for (int k = 0; k < 8; ++k) {
        write("20261116T080001Z-" + std::to_string(job) + "-" + std::to_string(i * 8 + k) + ".table",
              {bcast(0, 8, "linear", monday, 1)});
      }
      if (std::string wrong = recall(folder(), mpi).complaint; !wrong.empty()) return wrong;
    }
    return "";
  };
  EXPECT_EQ(in_processes(jobs, work), 0);
  EXPECT_EQ(ranks_of(recalled()), ranks_up_to(50 + jobs * flushes));
}

TEST_F(Memory, AProcessThatIsKilledWhileItMergesLosesNothing) {
  for (int i = 1; i <= 60; ++i) {
    write("20261116T080000Z-node-" + std::to_string(i) + ".table", {bcast(0, 8, "linear", monday, i)});
  }
  for (int after = 0; after < 30; ++after) {
    const pid_t child = fork();
    if (child == 0) {
      remember(folder(), {bcast(0, 8, "linear", tuesday, 60)});
      _exit(0);
    }
    usleep(static_cast<useconds_t>(after * 200));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ASSERT_EQ(ranks_of(recalled()), ranks_up_to(60)) << "killed after " << after * 200 << " us";
    ASSERT_EQ(complaint(), "");
    for (int i = 1; i <= 40; ++i) {
      write("20261116T080000Z-more-" + std::to_string(i) + ".table", {bcast(0, 8, "linear", monday, i)});
    }
  }
}

TEST_F(Memory, WhatIsDamagedIsSkippedWithOneComplaint) {
  write("a.table", {bcast(0, 8, "linear", monday)});
  write("b.table", "");
  EXPECT_EQ(complaint(), "");
  write("c.table",
        "\x7f"
        "ELF\n");
  EXPECT_EQ(complaint(), path("c.table").string() +
                             ":1: expected '# quadrille table 1', the first line of such a file: skipped; quadrille "
                             "knows --forget removes all that was learned");
  std::string half = to_text(table_of({bcast(9, 9, "linear", monday), bcast(10, 16, "linear", monday)}));
  half.resize(half.size() - 10);
  write("d.table", half);
  write("e.table", std::string(100000, '\0'));
  write("f.table",
        "# quadrille table 1\n[" + std::string(mpi) + ", 8 ranks, 2 nodes]\nbcast 20 an_algorithm_of_tomorrow\n");
  const std::string all = complaint();
  EXPECT_NE(all.find("; 3 more files likewise: skipped"), std::string::npos) << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 0);
  EXPECT_EQ(text_of(recalled()), "0-8 linear, 9-9 linear");
}

TEST_F(Memory, WhatIsDamagedIsNeitherMergedNorRemoved) {
  for (int i = 1; i <= 40; ++i) write("2026-" + std::to_string(i) + ".table", "damaged");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(remember(folder(), {bcast(0, 8, "linear", monday)}), "");
  EXPECT_EQ(files(), 41U);
  EXPECT_EQ(recalled().size(), 1U);
}

TEST_F(Memory, NothingInTheFolderMakesItHang) {
  write("a.table", {bcast(0, 8, "linear", monday)});
  ASSERT_EQ(mkfifo(path("fifo.table").c_str(), 0600), 0);
  fs::create_symlink("fifo.table", path("link.table"));
  fs::create_symlink("/dev/zero", path("zero.table"));
  fs::create_symlink("/dev/tty", path("tty.table"));
  fs::create_symlink("loop.table", path("loop.table"));
  fs::create_symlink("nowhere", path("broken.table"));
  fs::create_directory(path("folder.table"));
  EXPECT_EQ(text_of(recalled()), "0-8 linear");
  EXPECT_NE(complaint().find("is not a regular file; 6 more files likewise"), std::string::npos) << complaint();
  EXPECT_EQ(remember(folder(), {bcast(9, 9, "linear", monday)}), "");
  EXPECT_EQ(text_of(recalled()), "0-8 linear, 9-9 linear");
}

TEST_F(Memory, WhatIsTooMuchIsNotRead) {
  write("a.table", {bcast(0, 8, "linear", monday)});
  write("huge.table", "");
  fs::resize_file(path("huge.table"), std::uintmax_t{1} << 40);
  EXPECT_NE(complaint().find("has more than 4194304 bytes"), std::string::npos) << complaint();
  EXPECT_EQ(text_of(recalled()), "0-8 linear");
  fs::remove(path("huge.table"));
  // As many rules as fit.
  std::string many = "# quadrille table 1\n[" + std::string(mpi) + ", 8 ranks, 2 nodes]\n";
  for (int i = 100; many.size() < (4 << 20) - 100; ++i) many += "bcast " + std::to_string(i) + " linear\n";
  write("many.table", many);
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(recalled().size(), 16384U);
  fs::remove(path("many.table"));
  for (int i = 0; i < 1500; ++i) write("many-" + std::to_string(i) + ".table", "");
  EXPECT_NE(complaint().find("has more files than are read"), std::string::npos) << complaint();
}

TEST_F(Memory, ANameCantWriteToTheTerminal) {
  write("a\x1b[2J\n.table", "damaged");
  EXPECT_EQ(complaint().find('\x1b'), std::string::npos);
  EXPECT_EQ(complaint().find('\n'), std::string::npos);
}

TEST_F(Memory, WhatBelongsToAnotherUserIsIgnored) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  write("a.table", {bcast(0, 8, "linear", monday)});
  write("b.table", {bcast(0, 8, "binomial", tuesday)});
  ASSERT_EQ(chown(path("b.table").c_str(), somebody_else, somebody_else), 0);
  EXPECT_EQ(text_of(recalled()), "0-8 linear");
  EXPECT_NE(complaint().find("b.table belongs to another user"), std::string::npos);
  // What is root's is not ignored, by anybody.
  const auto recalls = [&](int) -> std::string {
    if (setuid(somebody_else) != 0) return "can't become another user";
    return text_of(recalled()) == "0-8 binomial" ? "" : text_of(recalled());
  };
  EXPECT_EQ(in_processes(1, recalls), 0);
}

TEST_F(Memory, AFolderThatCantBeWrittenIsSaid) {
  write("a.table", {bcast(0, 8, "linear", monday)});
  fs::permissions(folder(), fs::perms{0555});
  const auto work = [&](int) -> std::string {
    if (geteuid() == 0 && setuid(somebody_else) != 0) return "can't become another user";
    const std::string said = remember(folder(), {bcast(9, 9, "linear", monday)});
    if (said.find("what was learned is not remembered: can't write ") != 0) return "said: " + said;
    if (said.find("Permission denied") == std::string::npos) return "said: " + said;
    if (forget(folder(), {}).complaint.find("Permission denied") == std::string::npos) return "forgot";
    return text_of(recalled()) == "0-8 linear" ? "" : "not recalled";
  };
  EXPECT_EQ(in_processes(1, work), 0);
  fs::permissions(folder(), fs::perms::none);
  const auto closed = [&](int) -> std::string {
    if (geteuid() == 0 && setuid(somebody_else) != 0) return "can't become another user";
    return complaint().find("Permission denied") == std::string::npos ? "no complaint" : "";
  };
  EXPECT_EQ(in_processes(1, closed), 0);
  fs::permissions(folder(), fs::perms::owner_all);
  write("file", "");
  EXPECT_NE(remember(path("file").string() + "/inside", {bcast(0, 8, "", monday)}), "");
  EXPECT_NE(recall(path("file"), mpi).complaint, "");
}

TEST_F(Memory, AFullDiskIsSaidAndLosesNothing) {
  for (int i = 1; i <= 40; ++i) {
    write("20261116T080000Z-node-" + std::to_string(i) + ".table", {bcast(0, 8, "linear", monday, i)});
  }
  const auto work = [&](int) -> std::string {
    // The first file fits, the merged one does not. Nobody is killed by the signal of it.
    const rlimit limit{.rlim_cur = 400, .rlim_max = 400};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return "can't set a limit";
    const std::string said = remember(folder(), {bcast(0, 8, "linear", monday, 41)});
    return said.find("File too large") == std::string::npos ? "said: " + said : "";
  };
  EXPECT_EQ(in_processes(1, work), 0);
  EXPECT_EQ(ranks_of(recalled()), ranks_up_to(41));
  EXPECT_EQ(files(), 41U);  // no draft
  EXPECT_EQ(remember(folder(), {bcast(0, 8, "linear", monday, 42)}), "");
  EXPECT_EQ(ranks_of(recalled()), ranks_up_to(42));
}

TEST_F(Memory, SomeOrAllIsForgotten) {
  Finding other = bcast(0, 8, "", monday);
  other.rule.collective = Collective::reduce;
  write("a.table", {bcast(0, 8, "linear", monday), other});
  write("b.table", {bcast(9, 9, "linear", monday)});
  write("c.table", "damaged");
  const auto of_bcast = [](const Finding& one) { return one.rule.collective == Collective::bcast; };
  Forgotten forgotten = forget(folder(), of_bcast);
  EXPECT_EQ(forgotten.findings, 2U);
  EXPECT_EQ(forgotten.complaint, "");
  EXPECT_EQ(text_of(recalled()), "0-8 native");
  EXPECT_EQ(forget(folder(), of_bcast).findings, 0U);
  EXPECT_EQ(text_of(recalled()), "0-8 native");
  EXPECT_NE(complaint(), "");
  forgotten = forget(folder(), {});
  EXPECT_EQ(forgotten.findings, 1U);
  EXPECT_EQ(files(), 0U);
  EXPECT_EQ(complaint(), "");
}

}  // namespace
}  // namespace quadrille::learn
