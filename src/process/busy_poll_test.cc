#include "process/busy_poll.h"

#include <gtest/gtest.h>

namespace process {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(BusyPoll, LooksLongerWhileWaitsAreShort) {
  BusyPoll poll;
  EXPECT_EQ(poll.budget(), microseconds(0));
  poll.Ended(microseconds(80));
  EXPECT_EQ(poll.budget(), BusyPoll::kShortest);
  for (int i = 0; i < 10; ++i) poll.Ended(microseconds(80));
  EXPECT_EQ(poll.budget(), BusyPoll::kLongest);
}

TEST(BusyPoll, GivesUpWhereNothingComesSoon) {
  BusyPoll poll;
  for (int i = 0; i < 10; ++i) poll.Ended(microseconds(80));
  BusyPoll::Duration looked{};
  for (int i = 0; i < 10; ++i) {
    looked += poll.budget();
    poll.Ended(milliseconds(1));
  }
  EXPECT_EQ(poll.budget(), microseconds(0));
  EXPECT_LT(looked, 2 * BusyPoll::kLongest);
}

TEST(BusyPoll, NeverLooksWhereEventsAreRare) {
  BusyPoll poll;
  poll.Ended(BusyPoll::kLongest + microseconds(1));
  EXPECT_EQ(poll.budget(), microseconds(0));
}

}  // namespace
}  // namespace process
