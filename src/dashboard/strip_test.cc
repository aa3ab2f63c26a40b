#include "dashboard/strip.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace dashboard {
namespace {

// Two ranks; the first with this CPU.
text::Json Grid(std::string_view cpu, int step = 1000) {
  constexpr const char* kRank =
      R"({{"rank":{},"cpu":[{}],"memoryBytes":[],"ioBytesPerSecond":[],"quietSeconds":[],"stall":[]}})";
  return *text::ParseJson(fmt::format(R"({{"uid":"u","from":5000,"step":{},"ranks":[{},{}]}})",
                                      step, fmt::format(fmt::runtime(kRank), 0, cpu),
                                      fmt::format(fmt::runtime(kRank), 3, "1,1")));
}

TEST(StripNews, AtFirstIsTheWholeGrid) {
  const text::Json news = *text::ParseJson(StripNews("team/a", {}, Grid("0.5,1")));
  EXPECT_EQ(text::GetString(news, {"key"}), "team/a");
  EXPECT_EQ(text::GetInt(news, {"at"}), 0);
  EXPECT_EQ(text::GetInt(news, {"from"}), 5000);
  EXPECT_EQ(text::ToJson(news.at("ranks").at(0).at("cpu")), "[0.5,1]");
  EXPECT_EQ(text::GetInt(news.at("ranks").at(1), {"rank"}), 3);
}

TEST(StripNews, AfterwardsBeginsWithTheFirstColumnThatChanged) {
  const text::Json news =
      *text::ParseJson(StripNews("a", Grid("0.5,1,null"), Grid("0.5,1,0.25,1")));
  EXPECT_EQ(text::GetInt(news, {"at"}), 2);
  EXPECT_EQ(text::ToJson(news.at("ranks").at(0).at("cpu")), "[0.25,1]");
  EXPECT_EQ(text::ToJson(news.at("ranks").at(1).at("cpu")), "[]");
  EXPECT_EQ(StripNews("a", Grid("0.5,1"), Grid("0.5,1")), "");
}

TEST(StripNews, OfAnotherGridIsWhole) {
  EXPECT_NE(StripNews("a", Grid("1,1"), Grid("1", 2000)).find(R"("at":0)"), std::string::npos);
  EXPECT_NE(StripNews("a", *text::ParseJson(R"({"from":5000,"step":1000,"ranks":[]})"), Grid("1"))
                .find(R"("at":0)"),
            std::string::npos);
}

TEST(StripNews, WhatIsNoGridHasNoRanks) {
  EXPECT_EQ(StripNews("a", {}, *text::ParseJson(R"({"ranks":7})")),
            R"({"key":"a","from":0,"step":0,"at":0,"ranks":[]})");
}

}  // namespace
}  // namespace dashboard
