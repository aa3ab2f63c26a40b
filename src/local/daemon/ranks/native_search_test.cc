#include "local/daemon/ranks/native_search.h"

#include <gtest/gtest.h>

namespace local::daemon {
namespace {

using std::chrono::seconds;

class NativeSearchTest : public ::testing::Test {
 protected:
  // The seconds in which it searched.
  std::vector<int> Pass(int count, const std::set<std::string>& folders) {
    std::vector<int> searched;
    for (int i = 0; i < count; ++i) {
      const int before = searches_;
      search_.See(NativeSearch::Instant(seconds(1000 + now_)), folders);
      if (searches_ != before) searched.push_back(now_);
      ++now_;
    }
    return searched;
  }

  std::map<std::string, int> worlds_;  // by folder
  int searches_ = 0;
  int now_ = 0;
  NativeSearch search_{[this](const std::set<std::string>& folders) {
    ++searches_;
    std::vector<witness::NativeRank> found;
    for (const std::string& folder : folders) {
      if (worlds_.contains(folder)) found.push_back({folder, 0, worlds_[folder], 100});
    }
    return found;
  }};
};

TEST_F(NativeSearchTest, SearchesLessAndLessOftenForRanksThatAreAlone) {
  worlds_["a"] = 1;
  EXPECT_EQ(Pass(200, {"a"}), (std::vector<int>{0, 5, 15, 35, 75, 135, 195}));
  EXPECT_EQ(search_.In("a").size(), 1u);
  // Not for a new pod.
  EXPECT_EQ(Pass(12, {"a", "b"}), (std::vector<int>{200, 205}));
  EXPECT_TRUE(search_.In("b").empty());
  // Nor for one that has several ranks, which begin again now and then.
  worlds_["b"] = 2;
  Pass(60, {"a", "b"});
  EXPECT_EQ(Pass(20, {"b"}).size(), 4u);
  EXPECT_EQ(search_.In("b").size(), 1u);
  EXPECT_TRUE(Pass(20, {}).empty());
  EXPECT_TRUE(search_.In("b").empty());
}

}  // namespace
}  // namespace local::daemon
