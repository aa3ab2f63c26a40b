#include "launch/workers/worker_group.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "launch/machine/process_tree.h"
#include "process/event_loop.h"
#include "process/signals.h"
#include "process/spawn.h"

namespace launch {
namespace {

// One worker that runs a shell command, with a fake clock. Its descriptor 3 reads a pipe.
class WorkerGroupTest : public testing::Test {
 protected:
  void SetUp() override {
    AdoptOrphans();
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    ASSERT_EQ(::sigprocmask(SIG_BLOCK, &set, nullptr), 0);
    children_ = base::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    loop_ = std::move(*process::EventLoop::Create(clock_));
    group_ = std::make_unique<WorkerGroup>(*loop_, clock_, nullptr,
                                           [this](const WorkerEnd&) { on_end_(); });
    ASSERT_TRUE(loop_->Watch(children_.get(), EPOLLIN, [this](uint32_t) {
      while (process::ReadSignal(children_.get())) group_->OnChildSignal();
    }));
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader_ = base::Fd(ends[0]);
    writer_ = base::Fd(ends[1]);
  }

  void TearDown() override { KillTree(); }

  void Run(const std::string& command) {
    process::SpawnOptions options;
    options.path = "/bin/sh";
    options.argv = {"sh", "-c", command};
    options.fds = {{0, 0}, {1, 1}, {2, 2}, {reader_.get(), 3}};
    ASSERT_TRUE(group_->Start(std::move(options)));
    ASSERT_TRUE(loop_->Run());
  }

  base::FakeClock clock_{base::Time{}};
  base::Fd children_, reader_, writer_;
  std::unique_ptr<process::EventLoop> loop_;
  std::unique_ptr<WorkerGroup> group_;
  std::function<void()> on_end_;
};

TEST_F(WorkerGroupTest, AHelperThatEndsWithItsWorkerIsNoLeftover) {
  on_end_ = [this] {
    group_->Finish(std::chrono::seconds(5), [this] { loop_->Stop(); });
    // After the check for remaining processes, which found the helper.
    loop_->Post([this] { loop_->Post([this] { writer_.Reset(); }); });
  };
  Run("cat <&3 & exit 0");
  EXPECT_EQ(group_->leftover_count(), 0U);
}

TEST_F(WorkerGroupTest, WhatDoesNotEndByItselfIsEndedAndCounted) {
  on_end_ = [this] {
    group_->Finish(std::chrono::seconds(5), [this] { loop_->Stop(); });
    loop_->Post([this] { clock_.Advance(std::chrono::seconds(1)); });
  };
  Run("cat <&3 & exit 0");
  EXPECT_EQ(group_->leftover_count(), 1U);
}

}  // namespace
}  // namespace launch
