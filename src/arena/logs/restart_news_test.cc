#include "arena/logs/restart_news.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

constexpr base::Time kEnded{std::chrono::seconds(1'800'000'000)};

text::Json PodAfter(int restarts, bool is_waiting) {
  const text::Object ended{
      {"terminated", text::Object{{"exitCode", 3}, {"finishedAt", base::FormatRfc3339(kEnded)}}}};
  const char* const now = is_waiting ? "waiting" : "running";
  text::Object status{{"name", "pytorch"},
                      {"restartCount", restarts},
                      {"state", text::Object{{now, text::Object()}}},
                      {"lastState", restarts > 0 || is_waiting ? ended : text::Object()}};
  return text::Object{{"metadata", text::Object{{"name", "pt-master-0"}, {"uid", "u"}}},
                      {"status", text::Object{{"containerStatuses", text::Array{status}}}}};
}

TEST(RestartNews, ReportsEachStartOnceHoweverItIsSeen) {
  RestartNews news(kEnded + std::chrono::milliseconds(900));
  const auto see = [&news](int restarts, bool is_waiting) {
    const text::Json pod = PodAfter(restarts, is_waiting);
    std::string text;
    for (const Restart& restart : news.See({&pod})) {
      EXPECT_EQ(restart.is_to_come, is_waiting);
      text += restart.text + ";";
    }
    return text;
  };
  EXPECT_EQ(news.See({}).size(), 0u);
  EXPECT_EQ(see(0, false), "");
  // The first restart happens at once: nobody sees the container wait.
  EXPECT_EQ(see(1, false), "pt-master-0 exited with code 3, starts again (restart 1);");
  EXPECT_EQ(see(1, false), "");
  EXPECT_EQ(see(1, true), "pt-master-0 exited with code 3, starts again (restart 2);");
  EXPECT_EQ(see(2, false), "");
}

TEST(RestartNews, ASidecarIsNamed) {
  RestartNews news(kEnded);
  text::Json pod = PodAfter(1, false);
  text::Set(pod, {"spec", "containers"},
            text::Array{text::Object{{"name", "train"}}, text::Object{{"name", "pytorch"}}});
  EXPECT_EQ(news.See({&pod}).at(0).text,
            "pt-master-0 exited with code 3, starts again (restart 1)");
  text::Set(pod, {"spec", "containers"}, text::Array{text::Object{{"name", "train"}}});
  text::Set(pod, {"metadata", "uid"}, "v");
  EXPECT_EQ(news.See({&pod}).at(0).text,
            "the container pytorch of pt-master-0 exited with code 3, starts again (restart 1)");
}

TEST(RestartNews, WhatWasBeforeIsNoNews) {
  RestartNews news(kEnded + std::chrono::seconds(1));
  const text::Json pod = PodAfter(2, false);
  EXPECT_TRUE(news.See({&pod}).empty());
}

}  // namespace
}  // namespace arena
