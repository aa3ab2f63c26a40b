#include "dashboard/workers.h"

#include <gtest/gtest.h>

#include <latch>

namespace dashboard {
namespace {

TEST(WorkersTest, TooManyTasksAreRefused) {
  std::latch is_busy(1), may_go(1), has_run(2);
  Workers workers(1, 1);
  EXPECT_TRUE(workers.Post([&](const std::stop_token&) {
    is_busy.count_down();
    may_go.wait();
    has_run.count_down();
  }));
  is_busy.wait();
  EXPECT_TRUE(workers.Post([&](const std::stop_token&) { has_run.count_down(); }));
  EXPECT_FALSE(workers.Post([](const std::stop_token&) { FAIL() << "it was refused"; }));
  may_go.count_down();
  has_run.wait();
}

TEST(WorkersTest, EndingNotifiesTheTaskThatRuns) {
  std::latch is_busy(1);
  bool was_stopped = false;
  {
    Workers workers(1, 4);
    workers.Post([&](const std::stop_token& stop) {
      std::latch stopped(1);
      const std::stop_callback on_stop(stop, [&] { stopped.count_down(); });
      is_busy.count_down();
      stopped.wait();
      was_stopped = true;
    });
    is_busy.wait();
  }
  EXPECT_TRUE(was_stopped);
}

}  // namespace
}  // namespace dashboard
