// Workers: threads that answer what the server's own thread must not wait for.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace dashboard {

// Thread safe.
class Workers {
 public:
  // The token is stopped when the workers are to end.
  using Task = std::function<void(const std::stop_token& stop)>;

  Workers(size_t threads, size_t most_waiting);

  // False when too many wait already: `task` is dropped.
  bool Post(Task task);

 private:
  void Run(const std::stop_token& stop);

  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Task> tasks_;
  std::vector<std::jthread> threads_;  // last: uses all of the above
};

}  // namespace dashboard
