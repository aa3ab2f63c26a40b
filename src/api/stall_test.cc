#include "api/stall.h"

#include <gtest/gtest.h>

#include "api/names.h"

namespace api {
namespace {

text::Json JobWith(const std::string& note) {
  return text::Object{
      {"metadata", text::Object{{"annotations", text::Object{{kStallAnnotation, note}}}}}};
}

TEST(StallNote, IsReadAsItWasWritten) {
  const base::Time since = *base::ParseRfc3339("2026-07-30T10:00:00Z");
  const std::string note = StallNote("stalled", since, "rank 1 has not entered barrier (a.py:2)");
  EXPECT_EQ(TextOfStall(note), "stalled rank 1 has not entered barrier (a.py:2)");
  EXPECT_EQ(StallOf(JobWith(note), since + std::chrono::seconds(34)),
            "stalled 34 s: rank 1 has not entered barrier (a.py:2)");
  // The clock was set back.
  EXPECT_EQ(StallOf(JobWith(note), since - std::chrono::seconds(5)),
            "stalled 0 s: rank 1 has not entered barrier (a.py:2)");
}

TEST(StallNote, WhatIsNoneIsNone) {
  for (const char* note : {"", "stalled", "stalled 2026-07-30T10:00:00Z", "stalled soon rank 1"}) {
    EXPECT_EQ(TextOfStall(note), "") << note;
    EXPECT_EQ(SayStall(note, {}), "") << note;
    EXPECT_EQ(StallOf(JobWith(note), {}), "") << note;
  }
}

TEST(StallNote, AJobThatIsSlowedByARankDoesNotStandStill) {
  const base::Time since = *base::ParseRfc3339("2026-07-30T10:00:00Z");
  const base::Time end = since + std::chrono::seconds(60);
  const std::string slowed = StallNote(kSlowed, since, "rank 1 is late at collectives");
  EXPECT_EQ(StallOf(JobWith(slowed), end), "slowed 60 s: rank 1 is late at collectives");
  EXPECT_TRUE(StallsOf(JobWith(slowed), end).empty());
  EXPECT_EQ(WithPastStall("x/y", slowed, end), "x/y");
  const std::string stalled = StallNote("stalled", since, "rank 1 has not entered barrier");
  EXPECT_EQ(StallsOf(JobWith(stalled), end).size(), 1u);
  EXPECT_EQ(WithPastStall("", stalled, end), "2026-07-30T10:00:00Z/2026-07-30T10:01:00Z");
}

TEST(StallNote, TheLastStallIsTheOneThatEndedLast) {
  const base::Time since = *base::ParseRfc3339("2026-07-30T10:00:00Z");
  const std::string note = StallNote("stalled", since, "rank 1 has not entered barrier");
  EXPECT_FALSE(LastStallOf(JobWith("")));
  const auto present = LastStallOf(JobWith(note));
  ASSERT_TRUE(present);
  EXPECT_FALSE(present->end);
  text::Json job = text::Object{
      {"metadata",
       text::Object{{"annotations",
                     text::Object{{kLastStallAnnotation, note},
                                  {kStallsAnnotation,
                                   WithPastStall("", note, since + std::chrono::seconds(60))}}}}}};
  const auto last = LastStallOf(job);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->stall.text, "rank 1 has not entered barrier");
  EXPECT_EQ(last->end, since + std::chrono::seconds(60));
  text::Set(job, {"metadata", "annotations", kStallAnnotation},
            text::Json(StallNote(kSlowed, since, "rank 1 is late at collectives")));
  ASSERT_TRUE(LastStallOf(job));
  EXPECT_EQ(LastStallOf(job)->stall.kind, "stalled") << "a late rank stalls nobody";
  text::Set(job, {"metadata", "annotations", kStallsAnnotation}, "");
  EXPECT_FALSE(LastStallOf(job));
}

}  // namespace
}  // namespace api
