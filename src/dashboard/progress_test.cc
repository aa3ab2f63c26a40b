#include "dashboard/progress.h"

#include <gtest/gtest.h>

namespace dashboard {
namespace {

text::Json Answer(std::string_view items) {
  return *text::ParseJson("{\"items\":[" + std::string(items) + "]}");
}

TEST(ProgressTest, OnlyWhatChangedIsSent) {
  Progress progress;
  const char* both = R"({"uid":"a","sources":[{"step":1}]},{"uid":"b","sources":[{"step":5}]})";
  EXPECT_EQ(progress.Take(Answer(both)), R"({"a":{"step":1},"b":{"step":5}})");
  EXPECT_EQ(progress.Take(Answer(both)), "");
  EXPECT_EQ(
      progress.Take(Answer(
          R"({"uid":"a","sources":[{"step":2},{"step":1}]},{"uid":"b","sources":[{"step":5}]})")),
      R"({"a":{"step":2}})");
  EXPECT_EQ(progress.All(), R"({"a":{"step":2},"b":{"step":5}})");
}

TEST(ProgressTest, WhoRunsNoMoreIsForgotten) {
  Progress progress;
  (void)progress.Take(Answer(R"({"uid":"a","sources":[{"step":1}]})"));
  EXPECT_EQ(progress.Take(Answer("")), "");
  EXPECT_EQ(progress.All(), "{}");
}

TEST(ProgressTest, OfSomeJobsAloneTheOthersStay) {
  const auto sources = [](const char* json) { return text::ParseJson(json)->as_array(); };
  Progress progress;
  EXPECT_EQ(progress.Change({{"a", sources(R"([{"step":1}])")}, {"b", sources(R"([{"step":2}])")}}),
            R"({"a":{"step":1},"b":{"step":2}})");
  EXPECT_EQ(progress.Change({{"b", sources(R"([{"step":2}])")}}), "");
  EXPECT_EQ(progress.Change({{"a", {}}}), "");
  EXPECT_EQ(progress.All(), R"({"b":{"step":2}})");
}

TEST(ProgressTest, ASourceThatDisagreesIsToldWithTheNewest) {
  const auto sources = [](const char* json) { return text::ParseJson(json)->as_array(); };
  const text::Json told =
      NewestOf(sources(R"([{"source":"log","step":300},{"source":"event files","step":100},
                           {"source":"status posts","step":301}])"));
  EXPECT_EQ(text::GetString(told, {"source"}), "log");
  ASSERT_EQ(text::Items(told, {"others"}).size(), 1u);
  EXPECT_EQ(text::GetString(text::Items(told, {"others"})[0], {"source"}), "event files");
  EXPECT_EQ(NewestOf(sources(R"([{"step":300},{"step":301}])")),
            *text::ParseJson(R"({"step":300})"));
}

TEST(ProgressTest, WhatIsNoProgressIsPassedOver) {
  Progress progress;
  EXPECT_EQ(progress.Take(*text::ParseJson("[]")), "");
  EXPECT_EQ(
      progress.Take(Answer(R"({"uid":"","sources":[{}]},{"uid":"a"},{"uid":"a","sources":[]},7)")),
      "");
}

}  // namespace
}  // namespace dashboard
