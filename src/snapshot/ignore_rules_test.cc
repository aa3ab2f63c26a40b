#include "snapshot/ignore_rules.h"

#include <gtest/gtest.h>

namespace snapshot {
namespace {

TEST(IgnoreRules, NamesOfEveryFolder) {
  const IgnoreRules rules("# comment\n\n*.ckpt\nwandb/\n");
  EXPECT_TRUE(rules.Ignores("a.ckpt", false));
  EXPECT_TRUE(rules.Ignores("deep/er/a.ckpt", false));
  EXPECT_TRUE(rules.Ignores("x/wandb", true));
  EXPECT_FALSE(rules.Ignores("wandb", false));
  EXPECT_FALSE(rules.Ignores("a.ckpt.py", false));
}

TEST(IgnoreRules, PathsFromTheFolderThatHoldsTheFile) {
  const IgnoreRules rules("/data\nsrc/*.o\ndocs/**/build\n**/cache\n");
  EXPECT_TRUE(rules.Ignores("data", true));
  EXPECT_FALSE(rules.Ignores("src/data", true));
  EXPECT_TRUE(rules.Ignores("src/a.o", false));
  EXPECT_FALSE(rules.Ignores("src/x/a.o", false));
  EXPECT_TRUE(rules.Ignores("docs/build", true));
  EXPECT_TRUE(rules.Ignores("docs/a/b/build", true));
  EXPECT_FALSE(rules.Ignores("docs/a/rebuild", true));
  EXPECT_TRUE(rules.Ignores("cache", true));
  EXPECT_TRUE(rules.Ignores("a/b/cache", true));
  EXPECT_FALSE(rules.Ignores("a/b/mycache", true));
}

TEST(IgnoreRules, TheLastThatMatchesDecides) {
  const IgnoreRules rules("*.log\n!keep.log\n");
  EXPECT_TRUE(rules.Ignores("a.log", false));
  EXPECT_FALSE(rules.Ignores("keep.log", false));
  EXPECT_FALSE(IgnoreRules("!\n/\n").Ignores("a", true));
}

}  // namespace
}  // namespace snapshot
