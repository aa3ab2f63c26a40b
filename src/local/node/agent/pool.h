// A few threads for blocking work: starting shims, reading the objects they need, removing trees.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace local::node {

class WorkPool {
 public:
  using Task = std::function<void()>;

  // Threads are started when needed and stay.
  explicit WorkPool(size_t max_threads) : max_threads_(max_threads) {}
  ~WorkPool();  // finishes running tasks and drops the others
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // Callable from any thread.
  void Run(Task task);

 private:
  void Work();

  const size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  size_t idle_ = 0;
  bool is_stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace local::node
