#include "answers/log/attempt.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

TEST(Attempt, IsInThePath) {
  std::string path = "run/attempt_2/3/stderr.log";
  EXPECT_EQ(TakeAttempt(path), 2);
  EXPECT_EQ(path, "run/3/stderr.log");
  for (const char* const other : {"run/3/stderr.log", "an_attempt_2/a.log", "run/attempt_x/a.log",
                                  "attempt_2", "attempt_-1/a.log"}) {
    std::string same = other;
    EXPECT_EQ(TakeAttempt(same), 0) << other;
    EXPECT_EQ(same, other);
  }
}

TEST(Attempt, IsEarlierThanALaterOneOfTheSameRun) {
  const LastAttempts last({"a/attempt_0/0/x.log", "a/attempt_10/0/x.log", "a/attempt_9/0/x.log",
                           "b/attempt_0/0/x.log", "out.log"});
  EXPECT_TRUE(last.IsEarlier("a/attempt_0/0/x.log"));
  EXPECT_TRUE(last.IsEarlier("a/attempt_9/1/x.log"));
  EXPECT_FALSE(last.IsEarlier("a/attempt_10/0/x.log"));
  EXPECT_FALSE(last.IsEarlier("b/attempt_0/0/x.log"));
  EXPECT_FALSE(last.IsEarlier("out.log"));
}

}  // namespace
}  // namespace answers
