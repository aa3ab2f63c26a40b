#include "local/server/backend/timers.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace local::server {
namespace {

using Due = std::chrono::steady_clock::time_point;

// Shared with the thread, which may outlive the ThreadTimersImpl for a moment.
struct Schedule {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<Due, Timers::Id>, std::function<void()>> tasks;
  std::map<Timers::Id, Due> due;
  Timers::Id last_id = 0;
  bool is_stopping = false;
};

void Run(Schedule& schedule) {
  std::unique_lock lock(schedule.mutex);
  while (!schedule.is_stopping) {
    if (schedule.tasks.empty()) {
      schedule.changed.wait(lock);
      continue;
    }
    const Due due = schedule.tasks.begin()->first.first;
    if (std::chrono::steady_clock::now() < due) {
      schedule.changed.wait_until(lock, due);
      continue;
    }
    auto task = schedule.tasks.extract(schedule.tasks.begin());
    schedule.due.erase(task.key().second);
    lock.unlock();
    task.mapped()();
    task.mapped() = {};
    lock.lock();
  }
}

class ThreadTimersImpl : public Timers {
 public:
  ThreadTimersImpl()
      : schedule_(std::make_shared<Schedule>()),
        thread_([schedule = schedule_] { Run(*schedule); }) {}

  ~ThreadTimersImpl() override {
    {
      const std::lock_guard lock(schedule_->mutex);
      schedule_->is_stopping = true;
    }
    schedule_->changed.notify_one();
    // A task may have held the last reference.
    if (thread_.get_id() == std::this_thread::get_id()) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }

  Id After(std::chrono::milliseconds wait, std::function<void()> task) override {
    const Due due = std::chrono::steady_clock::now() + wait;
    Id id = 0;
    {
      const std::lock_guard lock(schedule_->mutex);
      id = ++schedule_->last_id;
      schedule_->due[id] = due;
      schedule_->tasks.emplace(std::pair(due, id), std::move(task));
    }
    schedule_->changed.notify_one();
    return id;
  }

  void Cancel(Id id) override {
    std::function<void()> gone;  // destroyed after the lock is released
    const std::lock_guard lock(schedule_->mutex);
    const auto found = schedule_->due.find(id);
    if (found == schedule_->due.end()) return;
    const auto task = schedule_->tasks.find({found->second, id});
    gone = std::move(task->second);
    schedule_->tasks.erase(task);
    schedule_->due.erase(found);
  }

 private:
  std::shared_ptr<Schedule> schedule_;
  std::thread thread_;
};

}  // namespace

std::shared_ptr<Timers> ThreadTimers() { return std::make_shared<ThreadTimersImpl>(); }

}  // namespace local::server
