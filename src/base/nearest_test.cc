#include "base/nearest.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Nearest, IsTheFirstOfTheFewestEdits) {
  const std::vector<std::string_view> names = {"gpus", "workers", "working-dir", "share-memory"};
  EXPECT_EQ(Nearest("gpu", names), "gpus");
  EXPECT_EQ(Nearest("wrokers", names), "workers");
  EXPECT_EQ(Nearest("workingDir", names), "working-dir");
  EXPECT_EQ(Nearest("share-mem", names), "share-memory");
  EXPECT_EQ(Nearest("share_memory", {"share", "share-memory"}), "share-memory");
  EXPECT_EQ(Nearest("no-such", {"nopush"}), "") << "a dash is a letter";
  EXPECT_EQ(Nearest("gpus-per-node", names), "gpus");
  EXPECT_EQ(Nearest("nothing-like-it", names), "");
  EXPECT_EQ(Nearest("wrokers", names, 1), "");
  EXPECT_EQ(Nearest("x", {"y"}), "");
  EXPECT_EQ(Nearest("gpu", {}), "");
}

}  // namespace
}  // namespace base
