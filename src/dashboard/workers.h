// Workers: threads for requests that block, which the server's own thread must not do.
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
  // The token is stopped when the workers must end.
  using Task = std::function<void(const std::stop_token& stop)>;

  Workers(size_t threads, size_t most_waiting);

  // Drops `task` and returns false if too many are waiting.
  bool Post(Task task);

 private:
  void Run(const std::stop_token& stop);

  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Task> tasks_;
  std::vector<std::jthread> threads_;  // the last member, because it uses the others
};

}  // namespace dashboard
