#include "process/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "process/file_lock.h"
#include "process/inotify.h"
#include "process/signals.h"

namespace process {
namespace {

std::unique_ptr<EventLoop> NewLoop() { return std::move(*EventLoop::Create(base::SystemClock())); }

void Raise(int fd) {
  const uint64_t one = 1;
  ASSERT_EQ(::write(fd, &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

TEST(EventLoop, RunsTimersInOrderOfTime) {
  const auto loop = NewLoop();
  std::string order;
  loop->After(std::chrono::milliseconds(3), [&] {
    order += 'c';
    loop->Stop();
  });
  loop->After(std::chrono::milliseconds(1), [&] { order += 'a'; });
  loop->After(std::chrono::milliseconds(2), [&] { order += 'b'; });
  const auto cancelled = loop->After(std::chrono::milliseconds(1), [&] { order += 'x'; });
  loop->Cancel(cancelled);
  loop->Cancel(cancelled);
  ASSERT_TRUE(loop->Run());
  EXPECT_EQ(order, "abc");
}

TEST(EventLoop, ATimerMayCancelTheNext) {
  const auto loop = NewLoop();
  bool has_run = false;
  EventLoop::TimerId second = 0;
  loop->After(std::chrono::milliseconds(0), [&] {
    loop->Cancel(second);
    loop->After(std::chrono::milliseconds(1), [&] { loop->Stop(); });
  });
  second = loop->After(std::chrono::milliseconds(0), [&] { has_run = true; });
  ASSERT_TRUE(loop->Run());
  EXPECT_FALSE(has_run);
}

TEST(EventLoop, CallsWhileADescriptorIsReady) {
  const auto loop = NewLoop();
  const base::Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  int calls = 0;
  ASSERT_TRUE(loop->Watch(event.get(), EPOLLIN, [&](uint32_t events) {
    EXPECT_EQ(events, static_cast<uint32_t>(EPOLLIN));
    if (++calls == 3) loop->Unwatch(event.get());
    if (calls == 3) loop->Post([&] { loop->Stop(); });
  }));
  Raise(event.get());
  ASSERT_TRUE(loop->Run());
  EXPECT_EQ(calls, 3);
}

TEST(EventLoop, AnUnwatchedDescriptorIsNotCalledInTheSameRound) {
  const auto loop = NewLoop();
  const base::Fd a(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const base::Fd b(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  int calls = 0;
  const auto once = [&](uint32_t) {
    ++calls;
    loop->Unwatch(a.get());
    loop->Unwatch(b.get());
    loop->Post([&] { loop->Stop(); });
  };
  ASSERT_TRUE(loop->Watch(a.get(), EPOLLIN, once));
  ASSERT_TRUE(loop->Watch(b.get(), EPOLLIN, once));
  Raise(a.get());
  Raise(b.get());
  ASSERT_TRUE(loop->Run());
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, TakesWorkFromOtherThreads) {
  const auto loop = NewLoop();
  int sum = 0;
  std::jthread thread([&] {
    for (int i = 1; i <= 100; ++i) loop->Post([&sum, i] { sum += i; });
    loop->Post([&] { loop->Stop(); });
  });
  ASSERT_TRUE(loop->Run());
  EXPECT_EQ(sum, 5050);
}

TEST(EventLoop, LosesNothingWhileItPollsBusily) {
  const auto loop = NewLoop();
  loop->PollBusily();
  const base::Fd asked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const base::Fd answered(::eventfd(0, EFD_CLOEXEC));
  constexpr int kRounds = 500;
  int rounds = 0;
  int posts = 0;
  ASSERT_TRUE(loop->Watch(asked.get(), EPOLLIN, [&](uint32_t) {
    uint64_t count;
    ASSERT_EQ(::read(asked.get(), &count, sizeof count), static_cast<ssize_t>(sizeof count));
    ++rounds;
    Raise(answered.get());
  }));
  std::jthread peer([&] {
    for (int i = 0; i < kRounds; ++i) {
      Raise(asked.get());
      uint64_t count;
      ASSERT_EQ(::read(answered.get(), &count, sizeof count), static_cast<ssize_t>(sizeof count));
      loop->Post([&] { ++posts; });
    }
    loop->Post([&] { loop->After(std::chrono::milliseconds(1), [&] { loop->Stop(); }); });
  });
  ASSERT_TRUE(loop->Run());
  EXPECT_EQ(rounds, kRounds);
  EXPECT_EQ(posts, kRounds);
}

TEST(Signals, ArriveAsDescriptors) {
  std::jthread thread([] {
    const auto fd = OpenSignalFd({SIGUSR2});
    ASSERT_TRUE(fd);
    EXPECT_FALSE(ReadSignal(fd->get()));
    ::pthread_kill(::pthread_self(), SIGUSR2);
    const auto info = ReadSignal(fd->get());
    ASSERT_TRUE(info);
    EXPECT_EQ(info->ssi_signo, static_cast<uint32_t>(SIGUSR2));
  });
}

TEST(FileLock, IsHeldByOneAndFreedWithItsDescriptor) {
  const std::string path = testing::TempDir() + "/muster-lock-" + std::to_string(::getpid());
  auto first = TryLockFile(path);
  ASSERT_TRUE(first && first->has_value());
  auto second = TryLockFile(path);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->has_value());
  first->reset();
  EXPECT_TRUE(LockFile(path));
  ::unlink(path.c_str());
  EXPECT_FALSE(TryLockFile("/no/such/place/lock"));
}

TEST(Inotify, ReportsWhatHappenedInADirectory) {
  std::string directory = testing::TempDir() + "/muster-inotify-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  auto inotify = Inotify::Create();
  ASSERT_TRUE(inotify);
  const auto watch = inotify->Watch(directory, IN_CREATE);
  ASSERT_TRUE(watch);
  EXPECT_TRUE(inotify->Read().empty());
  base::Fd(::open((directory + "/new").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).Reset();
  const auto events = inotify->Read();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].watch, *watch);
  EXPECT_EQ(events[0].name, "new");
  EXPECT_EQ(inotify->Watch("/no/such/place", IN_CREATE).error().code, base::Code::kNotFound);
  ::unlink((directory + "/new").c_str());
  ::rmdir(directory.c_str());
}

}  // namespace
}  // namespace process
