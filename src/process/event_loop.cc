#include "process/event_loop.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>

namespace process {
namespace {

constexpr int kEventsPerWait = 64;
constexpr int64_t kLongestWaitMillis = 3'600'000;

uint64_t Pack(uint32_t generation, int fd) {
  return static_cast<uint64_t>(generation) << 32 | static_cast<uint32_t>(fd);
}

// Whether more threads want to run than there are processors. A thread that polls is then behind
// the others in the kernel's queue, while one that sleeps gets ahead of them when it is woken. The
// answer concerns the whole machine, so it is computed now and then for all loops of a thread.
bool ProcessorsAreTaken(std::chrono::steady_clock::time_point now) {
  constexpr std::chrono::milliseconds kKept{20};
  thread_local const int fd = ::open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  thread_local std::chrono::steady_clock::time_point asked{};
  thread_local bool are_taken = false;
  if (now - asked < kKept) return are_taken;
  asked = now;
  std::array<char, 128> text{};
  long running = 0;
  const bool is_read = ::pread(fd, text.data(), text.size() - 1, 0) > 0 &&
                       std::sscanf(text.data(), "%*s %*s %*s %ld/", &running) == 1;
  are_taken = is_read && running > ::sysconf(_SC_NPROCESSORS_ONLN);
  return are_taken;
}

}  // namespace

base::Result<std::unique_ptr<EventLoop>> EventLoop::Create(base::Clock& clock) {
  base::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return base::Fail(base::Errno(errno, "epoll_create"));
  base::Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return base::Fail(base::Errno(errno, "eventfd"));
  const int wake_fd = wake.get();
  std::unique_ptr<EventLoop> loop(new EventLoop(clock, std::move(epoll), std::move(wake)));
  TRY(loop->Watch(wake_fd, EPOLLIN, [raw = loop.get(), wake_fd](uint32_t) {
    uint64_t count;
    [[maybe_unused]] const ssize_t drained = ::read(wake_fd, &count, sizeof count);
    raw->RunPosted();
  }));
  return loop;
}

EventLoop::EventLoop(base::Clock& clock, base::Fd epoll, base::Fd wake)
    : clock_(clock), epoll_(std::move(epoll)), wake_(std::move(wake)) {}

base::Status EventLoop::Watch(int fd, uint32_t events, FdCallback callback) {
  const uint32_t generation = next_generation_++;
  epoll_event event{};
  event.events = events;
  event.data.u64 = Pack(generation, fd);
  const int operation = watched_.contains(fd) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0) {
    return base::Fail(base::Errno(errno, "epoll_ctl"));
  }
  watched_[fd] = {generation, std::make_shared<FdCallback>(std::move(callback))};
  return {};
}

void EventLoop::Unwatch(int fd) {
  if (watched_.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

EventLoop::TimerId EventLoop::At(TimePoint when, Callback callback) {
  const TimerId id = next_timer_++;
  timers_.emplace(std::pair(when, id), std::move(callback));
  timer_times_.emplace(id, when);
  return id;
}

EventLoop::TimerId EventLoop::After(base::Duration wait, Callback callback) {
  return At(clock_.Steady() + wait, std::move(callback));
}

void EventLoop::Cancel(TimerId id) {
  const auto found = timer_times_.find(id);
  if (found == timer_times_.end()) return;
  timers_.erase({found->second, id});
  timer_times_.erase(found);
}

void EventLoop::Post(Callback callback) {
  posted_.Lock()->push_back(std::move(callback));
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

void EventLoop::Stop() {
  is_stopped_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

int EventLoop::TimeoutMillis() {
  if (timers_.empty()) return -1;
  const auto wait = timers_.begin()->first.first - clock_.Steady();
  const int64_t millis = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  return static_cast<int>(std::clamp<int64_t>(millis, 0, kLongestWaitMillis));
}

void EventLoop::RunTimers() {
  if (timers_.empty()) return;
  const TimePoint now = clock_.Steady();
  while (!timers_.empty() && timers_.begin()->first.first <= now && !is_stopped_) {
    auto node = timers_.extract(timers_.begin());
    timer_times_.erase(node.key().second);
    node.mapped()();
  }
}

void EventLoop::RunPosted() {
  std::vector<Callback> batch;
  batch.swap(*posted_.Lock());
  for (Callback& callback : batch) callback();
}

void EventLoop::PollBusily() {
  cpu_set_t processors;
  if (::sched_getaffinity(0, sizeof processors, &processors) != 0) return;
  if (CPU_COUNT(&processors) > 1) busy_poll_.emplace();
}

int EventLoop::Wait(std::span<epoll_event> events) {
  const int size = static_cast<int>(events.size());
  const int millis = TimeoutMillis();
  if (!busy_poll_ || millis == 0) return ::epoll_wait(epoll_.get(), events.data(), size, millis);
  const TimePoint begin = std::chrono::steady_clock::now();
  const auto budget = busy_poll_->budget();
  const bool looks = budget > TimePoint::duration::zero() && !ProcessorsAreTaken(begin);
  const TimePoint end = looks ? begin + budget : begin;
  int count = 0;
  while (count == 0 && std::chrono::steady_clock::now() < end) {
    count = ::epoll_wait(epoll_.get(), events.data(), size, 0);
  }
  if (count == 0) count = ::epoll_wait(epoll_.get(), events.data(), size, millis);
  busy_poll_->Ended(std::chrono::steady_clock::now() - begin);
  return count;
}

base::Status EventLoop::Run() {
  std::array<epoll_event, kEventsPerWait> events;
  while (!is_stopped_) {
    const int count = Wait(events);
    if (count < 0 && errno != EINTR) return base::Fail(base::Errno(errno, "epoll_wait"));
    for (int i = 0; i < count && !is_stopped_; ++i) {
      const uint64_t key = events[static_cast<size_t>(i)].data.u64;
      const auto found = watched_.find(static_cast<int>(key & 0xffffffff));
      // Unwatched, or its number reused, by an earlier callback of this batch.
      if (found == watched_.end() || found->second.generation != key >> 32) continue;
      const std::shared_ptr<FdCallback> callback = found->second.callback;
      (*callback)(events[static_cast<size_t>(i)].events);
    }
    RunTimers();
  }
  is_stopped_ = false;
  return {};
}

}  // namespace process
