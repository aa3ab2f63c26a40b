#include "local/node/agent/pool.h"

#include <utility>

namespace local::node {

WorkPool::~WorkPool() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    tasks_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkPool::Run(Task task) {
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return;
  tasks_.push_back(std::move(task));
  if (idle_ < tasks_.size() && threads_.size() < max_threads_) {
    threads_.emplace_back([this] { Work(); });
  }
  wake_.notify_one();
}

void WorkPool::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return is_stopped_ || !tasks_.empty(); });
    --idle_;
    if (is_stopped_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace local::node
