#include "arena/logs/log_merge.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

using std::chrono::milliseconds;

constexpr LogMerge::Moment kStart{};

TEST(LogMerge, AnOlderLineThatComesLaterGoesFirst) {
  LogMerge merge;
  merge.Add("10.2", "b\n", kStart);
  merge.Add("10.1", "a\n", kStart + milliseconds(150));
  EXPECT_EQ(merge.Take(kStart + milliseconds(200)), "");
  EXPECT_EQ(merge.NextAt(), kStart + milliseconds(350));
  EXPECT_EQ(merge.Take(kStart + milliseconds(350)), "a\nb\n");
  EXPECT_EQ(merge.NextAt(), std::nullopt);
}

TEST(LogMerge, LinesOfOneTimeKeepTheirOrder) {
  LogMerge merge;
  for (const char* line : {"1\n", "2\n", "3\n"}) merge.Add("10.1", line, kStart);
  EXPECT_EQ(merge.Take(kStart + LogMerge::kWindow), "1\n2\n3\n");
}

TEST(LogMerge, ALineWaitsNoLongerThanItsWindow) {
  LogMerge merge;
  merge.Add("10.1", "a\n", kStart);
  merge.Add("10.2", "b\n", kStart + milliseconds(100));
  EXPECT_EQ(merge.Take(kStart + milliseconds(200)), "a\n");
  EXPECT_EQ(merge.Take(kStart + milliseconds(299)), "");
  EXPECT_EQ(merge.TakeAll(), "b\n");
}

TEST(LogMerge, WhatIsTooMuchToHoldGoesAtOnce) {
  LogMerge merge;
  merge.Add("10.1", std::string(LogMerge::kMaxHeld / 2 + 1, 'x'), kStart);
  merge.Add("10.2", std::string(LogMerge::kMaxHeld / 2, 'y'), kStart);
  EXPECT_EQ(merge.Take(kStart).front(), 'x');
  EXPECT_EQ(merge.Take(kStart), "");
}

}  // namespace
}  // namespace arena
