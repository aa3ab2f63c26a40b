#include "controller/loop/work_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WorkQueueTest : public ::testing::Test {
 protected:
  base::FakeClock clock_{base::Time{}};
  WorkQueue queue_{clock_, milliseconds(5), seconds(1)};
};

TEST_F(WorkQueueTest, GivesAKeyOnceThatWasAddedTwice) {
  queue_.Add("a");
  queue_.Add("a");
  queue_.Add("b");
  EXPECT_EQ(queue_.Get(), "a");
  EXPECT_EQ(queue_.Get(), "b");
  EXPECT_EQ(queue_.Depth(), 0U);
}

TEST_F(WorkQueueTest, GivesAKeyAgainThatWasAddedWhileWorkedOn) {
  queue_.Add("a");
  EXPECT_EQ(queue_.Get(), "a");
  queue_.Add("a");
  EXPECT_EQ(queue_.Depth(), 0U);
  queue_.Done("a");
  EXPECT_EQ(queue_.Get(), "a");
  queue_.Done("a");
  EXPECT_EQ(queue_.Depth(), 0U);
}

TEST_F(WorkQueueTest, HoldsADelayedKeyBackUntilItIsDue) {
  queue_.AddAfter("late", seconds(5));
  queue_.AddAfter("late", seconds(9));
  queue_.Add("now");
  EXPECT_EQ(queue_.Get(), "now");
  clock_.Advance(seconds(5));
  EXPECT_EQ(queue_.Get(), "late");
  queue_.Done("late");
  clock_.Advance(seconds(60));
  queue_.Add("end");
  EXPECT_EQ(queue_.Get(), "end");
}

TEST_F(WorkQueueTest, BacksOffPerKeyUntilForgotten) {
  queue_.AddWithBackoff("a");
  clock_.Advance(milliseconds(5));
  EXPECT_EQ(queue_.Get(), "a");
  queue_.Done("a");
  queue_.AddWithBackoff("a");
  clock_.Advance(milliseconds(5));
  queue_.Add("other");
  EXPECT_EQ(queue_.Get(), "other");
  clock_.Advance(milliseconds(5));
  EXPECT_EQ(queue_.Get(), "a");
  queue_.Forget("a");
  queue_.Done("a");
  queue_.AddWithBackoff("a");
  clock_.Advance(milliseconds(5));
  EXPECT_EQ(queue_.Get(), "a");
}

TEST_F(WorkQueueTest, WakesAWaiterOnStop) {
  std::thread waiter([this] { EXPECT_EQ(queue_.Get(), std::nullopt); });
  queue_.Stop();
  waiter.join();
}

TEST_F(WorkQueueTest, AnEarlierWakeUpReplacesALaterOne) {
  queue_.AddAfter("a", seconds(9));
  queue_.AddAfter("a", seconds(2));
  queue_.AddAfter("b", seconds(3));
  clock_.Advance(seconds(4));
  EXPECT_EQ(queue_.Get(), "a");
  EXPECT_EQ(queue_.Get(), "b");
  queue_.Done("a");
  clock_.Advance(seconds(60));
  queue_.Add("end");
  EXPECT_EQ(queue_.Get(), "end");
}

TEST_F(WorkQueueTest, ADroppedKeyIsNotWokenUp) {
  queue_.AddAfter("gone", seconds(1));
  queue_.Drop("gone");
  clock_.Advance(seconds(2));
  queue_.Add("end");
  EXPECT_EQ(queue_.Get(), "end");
}

TEST_F(WorkQueueTest, SaysHowLongAKeyHasWaited) {
  queue_.Add("a");
  clock_.Advance(milliseconds(30));
  queue_.Add("a");
  base::Duration waited{};
  EXPECT_EQ(queue_.Get(&waited), "a");
  EXPECT_EQ(waited, milliseconds(30));
}

TEST_F(WorkQueueTest, MeasuresItselfAsClientGoDoes) {
  for (const char* const key : {"a", "b", "c", "c"}) queue_.Add(key);
  EXPECT_EQ(queue_.Get(), "a");
  clock_.Advance(seconds(2));
  EXPECT_EQ(queue_.Get(), "b");
  clock_.Advance(seconds(1));
  queue_.AddWithBackoff("b");
  const WorkQueue::View view = queue_.Look();
  EXPECT_EQ(view.waiting, 1U);
  EXPECT_EQ(view.at_work, 2U);
  EXPECT_EQ(view.added, 3);
  EXPECT_EQ(view.retried, 1);
  EXPECT_EQ(view.unfinished, seconds(4));
  EXPECT_EQ(view.longest, seconds(3));
}

}  // namespace
}  // namespace controller
