#include "api/last_collectives.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(LastCollectives, AreReadAsTheyWereWritten) {
  const base::Time time = *base::ParseRfc3339("2026-07-30T10:00:05Z");
  const std::string text = FormatLastCollectives(
      {{0, time, "had finished barrier #7"}, {3, time, "had entered all_reduce #41"}});
  const std::vector<LastCollective> read = ReadLastCollectives(text);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].rank, 3);
  EXPECT_EQ(read[1].time, time);
  EXPECT_EQ(read[1].text, "had entered all_reduce #41");
}

TEST(LastCollectives, WhatIsMalformedIsLeftOut) {
  for (const char* text : {"", "\n", "1", "1 x y", "x 2026-07-30T10:00:05Z a",
                           "-1 2026-07-30T10:00:05Z a", "1 2026-07-30T10:00:05Z"}) {
    EXPECT_TRUE(ReadLastCollectives(text).empty()) << text;
  }
}

}  // namespace
}  // namespace api
