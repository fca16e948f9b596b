#include "measure/file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace quadrille::measure {
namespace {

namespace fs = std::filesystem;

// An empty folder of its own.
class File : public testing::Test {
 protected:
  File() : folder_(fs::temp_directory_path() / ("quadrille_file_test." + std::to_string(getpid()))) {
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

TEST_F(File, WhatCannotBeWrittenIsKnownBefore) {
  EXPECT_TRUE(is_replaceable(path("a")));
  EXPECT_FALSE(fs::exists(path("a")));
  EXPECT_EQ(entries(), 0);
  EXPECT_FALSE(is_replaceable(path("no/such/folder")));
  EXPECT_THROW(replace_file(path("no/such/folder"), ""), std::runtime_error);
}

}  // namespace
}  // namespace quadrille::measure
