#include "settings/settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace quadrille {
namespace {

class Variables {
 public:
  Variables(std::initializer_list<std::pair<const std::string, std::string>> set) : set_(set) {}

  std::string_view operator()(const char* name) const {
    const auto place = set_.find(name);
    return place == set_.end() ? std::string_view{} : std::string_view(place->second);
  }

 private:
  std::map<std::string, std::string> set_;
};

// What is wrong with one variable; empty: nothing.
std::string complaint(const std::string& name, const std::string& value) {
  try {
    check_settings(Variables{{name, value}});
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

class File {
 public:
  File(const std::string& name, const std::string& text)
      : path_(std::filesystem::path(testing::TempDir()) / (name + "-" + std::to_string(getpid()))) {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(Settings, HaveDefaults) {
  const Settings settings = read_settings(Variables{});
  EXPECT_EQ(settings.preferences.memory, 0);
  EXPECT_FALSE(settings.off);
  EXPECT_TRUE(settings.only[static_cast<std::size_t>(Collective::bcast)]);
  EXPECT_FALSE(settings.except_point_to_point);
  EXPECT_DOUBLE_EQ(settings.learn, 0.02);
}

TEST(Settings, LearningHasAShareOfTheTimeInPercent) {
  EXPECT_DOUBLE_EQ(read_settings(Variables{{"QUADRILLE_LEARN", "0.5"}}).learn, 0.005);
  EXPECT_EQ(read_settings(Variables{{"QUADRILLE_LEARN", "0"}}).learn, 0);
  EXPECT_EQ(read_settings(Variables{{"QUADRILLE_LEARN", "100"}}).learn, 1);
  EXPECT_EQ(complaint("QUADRILLE_LEARN", "101"), "QUADRILLE_LEARN=101: expected percent, from 0 to 100");
  for (const char* wrong : {"-1", "x", "2%", "nan", "inf"}) {
    EXPECT_EQ(complaint("QUADRILLE_LEARN", wrong).substr(0, 16), "QUADRILLE_LEARN=") << wrong;
  }
}

TEST(Settings, AreRead) {
  const Settings settings = read_settings(Variables{{"QUADRILLE", "off"},
                                                    {"QUADRILLE_MEMORY", "12k"},
                                                    {"QUADRILLE_ONLY", "bcast,reduce"},
                                                    {"QUADRILLE_EXCEPT", "all,p2p"},
                                                    {"QUADRILLE_ALGORITHM", "alltoall=bruck:4"},
                                                    {"QUADRILLE_STAGING", "1M"},
                                                    {"QUADRILLE_PATIENCE", "2.5"}});
  EXPECT_TRUE(settings.off);
  EXPECT_EQ(settings.staging, 1 << 20);
  EXPECT_EQ(settings.preferences.memory, 12 * 1024);
  EXPECT_TRUE(settings.only[static_cast<std::size_t>(Collective::reduce)]);
  EXPECT_FALSE(settings.only[static_cast<std::size_t>(Collective::allreduce)]);
  EXPECT_TRUE(settings.except[static_cast<std::size_t>(Collective::allreduce)]);
  EXPECT_TRUE(settings.except_point_to_point);
  EXPECT_EQ(settings.preferences.variant(Collective::alltoall).width, 4);
  EXPECT_EQ(settings.patience, 2.5);
}

TEST(Settings, AreRefusedByTheNameOfTheVariable) {
  for (const auto& [name, value] :
       std::initializer_list<std::pair<std::string, std::string>>{{"QUADRILLE", "no"},
                                                                  {"QUADRILLE_ALGORITHM", "allreduce=nonsense"},
                                                                  {"QUADRILLE_ALGORITHM", "allreduce"},
                                                                  {"QUADRILLE_ALGORITHM", "alltoall=bruck:1"},
                                                                  {"QUADRILLE_ONLY", "bogus"},
                                                                  {"QUADRILLE_ONLY", "p2p"},
                                                                  {"QUADRILLE_EXCEPT", "bcast,bogus"},
                                                                  {"QUADRILLE_FORCE", "broadcast"},
                                                                  {"QUADRILLE_MEMORY", "12q"},
                                                                  {"QUADRILLE_MEMORY", "-1"},
                                                                  {"QUADRILLE_MEMORY", "99999999999G"},
                                                                  {"QUADRILLE_IN_FLIGHT", "0"},
                                                                  {"QUADRILLE_IN_FLIGHT", "4k"},
                                                                  {"QUADRILLE_CHECK", "yes"},
                                                                  {"QUADRILLE_SIGNAL", "KILL"}}) {
    EXPECT_EQ(complaint(name, value).find(name + "=" + value + ": expected "), 0U)
        << name << ": " << complaint(name, value);
  }
}

TEST(Settings, AreRefusedForTheFilesTheyName) {
  EXPECT_EQ(complaint("QUADRILLE_TABLE", "/no/such/table"), "/no/such/table: can't read it");
  const File table("table", "# quadrille table 1\n[Some MPI 1.0, 2 ranks, 1 nodes]\nbcast 4 slowly\n");
  EXPECT_EQ(complaint("QUADRILLE_TABLE", table.path()).find(table.path() + ":3: expected an algorithm of bcast"), 0U);
  EXPECT_EQ(complaint("QUADRILLE_RACKS", "/no/such/racks"), "QUADRILLE_RACKS=/no/such/racks: can't read it");
  const File racks("racks", "left: node0 node1\nright node2\n");
  EXPECT_EQ(complaint("QUADRILLE_RACKS", racks.path()),
            racks.path() + ":2: expected a rack's name, a colon and its hosts");
  EXPECT_EQ(complaint("QUADRILLE_TABLE", "/dev/null"), "");
}

}  // namespace
}  // namespace quadrille
