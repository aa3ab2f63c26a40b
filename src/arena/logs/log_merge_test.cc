#include "arena/logs/log_merge.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

using std::chrono::milliseconds;

constexpr LogMerge::Moment kStart{};

void Add(LogMerge& merge, std::string time, std::string text, LogMerge::Moment arrival) {
  merge.Add("pod", {std::move(time), "", std::move(text)}, arrival);
}

std::string TextOf(const std::vector<LogMerge::Line>& lines) {
  std::string text;
  for (const LogMerge::Line& line : lines) text += line.line.text;
  return text;
}

TEST(LogMerge, AnOlderLineThatComesLaterGoesFirst) {
  LogMerge merge;
  Add(merge, "10.2", "b\n", kStart);
  Add(merge, "10.1", "a\n", kStart + milliseconds(150));
  EXPECT_EQ(TextOf(merge.Take(kStart + milliseconds(200))), "");
  EXPECT_EQ(merge.NextAt(), kStart + milliseconds(350));
  EXPECT_EQ(TextOf(merge.Take(kStart + milliseconds(350))), "a\nb\n");
  EXPECT_EQ(merge.NextAt(), std::nullopt);
}

TEST(LogMerge, LinesOfOneTimeKeepTheirOrder) {
  LogMerge merge;
  for (const char* line : {"1\n", "2\n", "3\n"}) Add(merge, "10.1", line, kStart);
  EXPECT_EQ(TextOf(merge.Take(kStart + LogMerge::kWindow)), "1\n2\n3\n");
}

TEST(LogMerge, ALineWaitsNoLongerThanItsWindow) {
  LogMerge merge;
  Add(merge, "10.1", "a\n", kStart);
  Add(merge, "10.2", "b\n", kStart + milliseconds(100));
  EXPECT_EQ(TextOf(merge.Take(kStart + milliseconds(200))), "a\n");
  EXPECT_EQ(TextOf(merge.Take(kStart + milliseconds(299))), "");
  EXPECT_EQ(TextOf(merge.TakeAll()), "b\n");
}

TEST(LogMerge, WhatIsTooMuchToHoldGoesAtOnce) {
  LogMerge merge;
  Add(merge, "10.1", std::string(LogMerge::kMaxHeld / 2 + 1, 'x'), kStart);
  Add(merge, "10.2", std::string(LogMerge::kMaxHeld / 2, 'y'), kStart);
  EXPECT_EQ(TextOf(merge.Take(kStart)).front(), 'x');
  EXPECT_EQ(TextOf(merge.Take(kStart)), "");
}

}  // namespace
}  // namespace arena
