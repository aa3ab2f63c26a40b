#include "local/daemon/progress/last_lines.h"

#include <gtest/gtest.h>

namespace local::daemon {
namespace {

TEST(LastLines, AreFoundByRankAndByItsPlaceInThePod) {
  LastLines lines;
  EXPECT_FALSE(lines.Of("p", 0, 0, 1));
  lines.Note("p", "rank3", 10);
  lines.Note("p", "rank3", 12);
  lines.Note("p", "local-rank0", 7);
  lines.Note("p", "", 20);
  EXPECT_EQ(lines.Of("p", 3, 1, 2), 12);
  EXPECT_EQ(lines.Of("p", 2, 0, 2), 7);
  EXPECT_FALSE(lines.Of("p", 5, 3, 4));
  EXPECT_FALSE(lines.Of("q", 3, 1, 2));
  EXPECT_EQ(lines.Of("p", 0, 0, 1), 20);  // alone in its pod: every line is its own
  lines.Forget("p");
  EXPECT_FALSE(lines.Of("p", 3, 1, 2));
}

}  // namespace
}  // namespace local::daemon
