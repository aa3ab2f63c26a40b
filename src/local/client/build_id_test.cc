#include "local/client/build_id.h"

#include <gtest/gtest.h>

namespace local::daemon {
namespace {

const BuildId kMarch{"0.1.0", "acd959a0000", "2026-03-01T00:00:00Z"};

TEST(BuildId, IsNewerByVersionThenByDate) {
  const BuildId april{"0.1.0", "b", "2026-04-01T00:00:00Z"};
  const BuildId tenth{"0.10.0", "c", "2026-01-01T00:00:00Z"};
  EXPECT_TRUE(IsNewer(april, kMarch));
  EXPECT_FALSE(IsNewer(kMarch, april));
  EXPECT_FALSE(IsNewer(kMarch, kMarch));
  EXPECT_TRUE(IsNewer(tenth, {"0.9.9", "d", "2027-01-01T00:00:00Z"}));
  EXPECT_TRUE(IsNewer(kMarch, {})) << "musters of before said nothing";
  EXPECT_FALSE(IsNewer({}, kMarch));
}

TEST(BuildId, IsNotNewerWhereThatIsUnknown) {
  const BuildId unknown{"0.1.0", "unknown", "unknown"};
  EXPECT_FALSE(IsNewer(unknown, kMarch));
  EXPECT_FALSE(IsNewer(kMarch, unknown));
}

TEST(BuildId, SaysItself) {
  EXPECT_EQ(kMarch.text(), "v0.1.0 (acd959a, 2026-03-01T00:00:00Z)");
  EXPECT_EQ(BuildId().text(), "of an earlier version");
}

}  // namespace
}  // namespace local::daemon
