#include "files/replace.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

namespace quadrille::files {
namespace {

namespace fs = std::filesystem;

// An empty folder of its own.
class File : public testing::Test {
 protected:
  File() : folder_(fs::temp_directory_path() / ("quadrille_files_test." + std::to_string(getpid()))) {
    fs::create_directory(folder_);
  }
  ~File() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(folder_), {}); }

 private:
  fs::path folder_;
};

TEST_F(File, IsReplacedAsAWhole) {
  replace_file(path("a"), "old\n");
  std::ifstream reader(path("a"));
  replace_file(path("a"), "new\n");
  EXPECT_EQ(text_of(path("a")), "new\n");
  // Who has opened the old one reads on in it.
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old\n");
  EXPECT_EQ(entries(), 1);
}

TEST_F(File, SeveralProcessesMayReplaceIt) {
  constexpr int processes = 4;
  constexpr std::size_t length = 100000;
  const auto replace_often = [&](char by) {
    for (int i = 0; i < 50; ++i) replace_file(path("a"), std::string(length, by));
  };
  replace_often('a');
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        replace_often(static_cast<char>('a' + i));
      } catch (const std::system_error&) {
        _exit(1);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (int i = 0; i < 50; ++i) {
    const std::string text = text_of(path("a"));
    ASSERT_EQ(text.size(), length);
    EXPECT_EQ(text, std::string(length, text.front()));
  }
  for (const pid_t child : children) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(entries(), 1);
}

TEST_F(File, KeepsItsPermissions) {
  replace_file(path("a"), "old\n");
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  replace_file(path("a"), "new\n");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(File, IsNotReplacedIfItMayNotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  replace_file(path("a"), "old\n");
  fs::permissions(path("a"), fs::perms::owner_read);
  EXPECT_FALSE(is_replaceable(path("a")));
  EXPECT_THROW(replace_file(path("a"), "new\n"), std::system_error);
  EXPECT_EQ(text_of(path("a")), "old\n");
}

TEST_F(File, ALinkIsFollowed) {
  replace_file(path("a"), "old\n");
  fs::create_symlink("a", path("link"));
  replace_file(path("link"), "new\n");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text_of(path("a")), "new\n");
}

TEST_F(File, ADeviceStaysOne) {
  fs::create_symlink("/dev/null", path("link"));
  EXPECT_TRUE(is_stream(path("link")));
  EXPECT_TRUE(is_replaceable(path("link")));
  replace_file(path("link"), "lost\n");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(File, AnOpenFileIsWrittenDirectly) {
  replace_file(path("a"), "old\n");
  const int open_one = open(path("a").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(open_one, 0);
  replace_file("/dev/fd/" + std::to_string(open_one), "new\n");
  std::string text(4, ' ');
  EXPECT_EQ(read(open_one, text.data(), text.size()), 4);
  EXPECT_EQ(text, "new\n");
  close(open_one);
}

TEST_F(File, StandardOutputIsContinued) {
  replace_file(path("a"), "old\n");
  const pid_t child = fork();
  if (child == 0) {
    if (!std::freopen(path("a").c_str(), "a", stdout)) _exit(1);
    std::fputs("printed\n", stdout);
    replace_file("/dev/stdout", "new\n");
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of(path("a")), "old\nprinted\nnew\n");
}

TEST_F(File, WhatIsRemovedIsBehindLinks) {
  replace_file(path("a"), "old\n");
  fs::create_symlink("a", path("link"));
  remove_file(path("link"));
  EXPECT_FALSE(fs::exists(path("a")));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  replace_file(path("link"), "new\n");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text_of(path("a")), "new\n");
  remove_file(path("no such file"));
}

TEST_F(File, AnOldFileIsKept) {
  replace_file(path("a"), "old\n");
  fs::create_symlink("a", path("link"));
  EXPECT_EQ(keep_old(path("link")), path("a.old"));
  EXPECT_EQ(text_of(path("a.old")), "old\n");
  EXPECT_EQ(text_of(path("a")), "old\n");
  EXPECT_EQ(keep_old(path("no such file")), "");
  EXPECT_EQ(keep_old("/dev/null"), "");
}

TEST_F(File, WhatCannotBeWrittenIsKnownBefore) {
  EXPECT_TRUE(is_replaceable(path("a")));
  EXPECT_FALSE(fs::exists(path("a")));
  EXPECT_EQ(entries(), 0);
  EXPECT_FALSE(is_replaceable(path("no/such/folder")));
  EXPECT_THROW(replace_file(path("no/such/folder"), ""), std::system_error);
}

}  // namespace
}  // namespace quadrille::files
