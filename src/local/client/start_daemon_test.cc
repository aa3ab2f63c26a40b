#include "local/client/start_daemon.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/file.h"
#include "process/file_lock.h"

namespace local::daemon {
namespace {

TEST(StartDaemon, HandsOnNoSignalsThatTheCommandBlocksOrIgnores) {
  char name[] = "/tmp/muster-start-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string folder = name;
  // Takes the place of the daemon: writes which signals reach it, and reports ready. A shell cannot
  // trap a signal that was ignored when it started.
  ASSERT_TRUE(base::WriteFileAtomic(
      folder + "/daemon",
      fmt::format("#!/bin/sh\nfor signal in TERM INT CHLD USR1; do\n"
                  "  trap \"echo $signal >>{}/signals\" $signal\n  kill -$signal $$\ndone\n"
                  "printf ok >&3\n",
                  folder),
      0700, base::Durability::kNone));
  auto lock = process::TryLockFile(folder + "/lock");
  ASSERT_TRUE(lock && *lock);

  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int number : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&blocked, number);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto ignored = ::signal(SIGUSR1, SIG_IGN);
  const base::Status started =
      StartDaemon(folder + "/daemon", folder + "/daemon.log", std::move(**lock));
  ::signal(SIGUSR1, ignored);
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);

  ASSERT_TRUE(started) << started.error().message;
  const auto signals = base::ReadFile(folder + "/signals");
  ASSERT_TRUE(signals);
  EXPECT_EQ(*signals, "TERM\nINT\nCHLD\nUSR1\n");
  EXPECT_TRUE(base::RemoveTree(folder));
}

TEST(StartDaemon, HandsOnTheLimitsOfTheShellOnlyIfAsked) {
  char name[] = "/tmp/muster-start-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string folder = name;
  // Takes the place of the daemon.
  ASSERT_TRUE(base::WriteFileAtomic(
      folder + "/daemon", fmt::format("#!/bin/sh\nulimit -S -t >{}/seen\nprintf ok >&3\n", folder),
      0700, base::Durability::kNone));
  const auto seen_by_daemon = [&](ShellLimits limits) {
    auto lock = process::TryLockFile(folder + "/lock");
    const base::Status started =
        StartDaemon(folder + "/daemon", folder + "/daemon.log", std::move(**lock), limits);
    EXPECT_TRUE(started) << started.error().message;
    return base::ReadFile(folder + "/seen").value_or("");
  };
  const std::string before = seen_by_daemon(ShellLimits::kKept);

  rlimit time{};
  ASSERT_EQ(::getrlimit(RLIMIT_CPU, &time), 0);
  const rlimit an_hour{3600, time.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_CPU, &an_hour), 0);
  const std::string kept = seen_by_daemon(ShellLimits::kKept);
  const std::string shed = seen_by_daemon(ShellLimits::kShed);
  ASSERT_EQ(::setrlimit(RLIMIT_CPU, &time), 0);

  EXPECT_EQ(kept, "3600\n");
  EXPECT_EQ(shed, before);
  EXPECT_TRUE(base::RemoveTree(folder));
}

}  // namespace
}  // namespace local::daemon
