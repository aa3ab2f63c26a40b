// One thread that waits for descriptors, timers and posted functions (epoll).
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/guarded.h"
#include "base/result.h"
#include "process/busy_poll.h"

namespace process {

// Post and Stop may be called from any thread; everything else only from the thread that is in
// Run, or before it. Callbacks may watch, unwatch and cancel anything, themselves included.
class EventLoop {
 public:
  using FdCallback = std::function<void(uint32_t events)>;  // EPOLLIN ...
  using Callback = std::function<void()>;
  using TimerId = uint64_t;
  using TimePoint = std::chrono::steady_clock::time_point;

  static base::Result<std::unique_ptr<EventLoop>> Create(base::Clock& clock);

  // Calls `callback` while `fd` is ready for `events` (level triggered). The loop does not own fd:
  // unwatch it before closing it. Watching it again replaces the callback.
  base::Status Watch(int fd, uint32_t events, FdCallback callback);
  void Unwatch(int fd);

  TimerId At(TimePoint when, Callback callback);
  TimerId After(base::Duration wait, Callback callback);
  // No effect when the timer has fired or is unknown.
  void Cancel(TimerId id);

  // From now on the loop polls for up to BusyPoll::kLongest before it sleeps, while events come
  // that fast. For loops whose peers wait for each answer. Has no effect on a single processor.
  void PollBusily();

  void Post(Callback callback);
  void Stop();

  // Runs until Stop. An error only when the kernel refuses to wait.
  base::Status Run();

 private:
  struct Watched {
    uint32_t generation;
    std::shared_ptr<FdCallback> callback;
  };

  EventLoop(base::Clock& clock, base::Fd epoll, base::Fd wake);
  int Wait(std::span<epoll_event> events);
  int TimeoutMillis();
  void RunTimers();
  void RunPosted();

  base::Clock& clock_;
  base::Fd epoll_;
  base::Fd wake_;
  uint32_t next_generation_ = 1;
  std::unordered_map<int, Watched> watched_;
  TimerId next_timer_ = 1;
  std::map<std::pair<TimePoint, TimerId>, Callback> timers_;
  std::unordered_map<TimerId, TimePoint> timer_times_;
  std::optional<BusyPoll> busy_poll_;
  base::Guarded<std::vector<Callback>> posted_;
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace process
