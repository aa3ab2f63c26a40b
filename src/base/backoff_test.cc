#include "base/backoff.h"

#include <gtest/gtest.h>

namespace base {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToTheCap) {
  Backoff backoff(100ms, 1s);
  EXPECT_EQ(backoff.Next(), 100ms);
  EXPECT_EQ(backoff.Next(), 200ms);
  EXPECT_EQ(backoff.Next(), 400ms);
  EXPECT_EQ(backoff.Next(), 800ms);
  EXPECT_EQ(backoff.Next(), 1s);
  EXPECT_EQ(backoff.Next(), 1s);
}

TEST(Backoff, ResetBeginsAnew) {
  Backoff backoff(100ms, 1s);
  backoff.Next();
  backoff.Next();
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), 100ms);
}

}  // namespace
}  // namespace base
