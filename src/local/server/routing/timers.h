// Things to do later.
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
  // The task does not run any more, unless it has begun. Does not wait.
  virtual void Cancel(Id id) = 0;
};

// One thread that sleeps until the next is due, and runs only while something is set.
std::shared_ptr<Timers> ThreadTimers();

}  // namespace local::server
