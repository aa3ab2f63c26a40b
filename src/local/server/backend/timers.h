// Delayed tasks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace local::server {

// Thread safe.
class Timers {
 public:
  using Id = uint64_t;
  virtual ~Timers() = default;
  // `task` runs once, on the timers' thread; it must be quick.
  virtual Id After(std::chrono::milliseconds wait, std::function<void()> task) = 0;
  // The task will not run, unless it has begun. Does not wait.
  virtual void Cancel(Id id) = 0;
};

// One thread that sleeps until the next task is due, and exists only while there are tasks.
std::shared_ptr<Timers> ThreadTimers();

}  // namespace local::server
