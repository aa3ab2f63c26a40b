#include "arena/logs/status_text.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

using std::chrono::seconds;

TEST(StatusText, SaysHowManyForHowLongAndWhatKeepsThem) {
  EXPECT_EQ(StatusText({2, 2, "", seconds(63), seconds(1)}), "2 of 2 ranks up, 1m03s");
  EXPECT_EQ(StatusText({1, 1, "", seconds(3700), seconds(65)}),
            "1 of 1 rank up, 1h01m, quiet for 1m05s");
  EXPECT_EQ(StatusText({0, 4, "waits for base to succeed", seconds(7), seconds(7)}),
            "0 of 4 ranks up, 7s: waits for base to succeed");
}

}  // namespace
}  // namespace arena
