#include "arena/jobs/jobs.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

TEST(Jobs, TheTimesInTheClustersWordsAreLocal) {
  const std::string local = LocalTime(*base::ParseRfc3339("2026-07-30T08:00:00Z"));
  EXPECT_EQ(
      InLocalTime("in use by a (until 2026-07-30T08:00:00Z at the latest), 2026-07-30T08:00:00Z"),
      "in use by a (until " + local + " at the latest), " + local);
  for (const char* text :
       {"", "Z", "AZ", "2026-07-30T08:00:00", "2026-99-30T08:00:00Z", "no time Z here at all Z"}) {
    EXPECT_EQ(InLocalTime(text), text);
  }
}

}  // namespace
}  // namespace arena
