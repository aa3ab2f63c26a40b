// The loop that feeds the pure scheduler (local/scheduler) from watches and writes what it decides:
// bindings, a gang's at once, and the reason for each pod that waits.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "controller/loop/event_recorder.h"
#include "local/daemon/scheduling/scheduling_view.h"
#include "local/node/devices/gpu.h"
#include "local/scheduler/scheduler.h"

namespace local::daemon {

struct SchedulingOptions {
  std::string node_name;
  scheduler::GpuPolicy gpu_policy = scheduler::GpuPolicy::kAuto;
  // Of the machine; 0: what it says of itself.
  int64_t cpu_milli = 0;
  int64_t memory = 0;
  // How often to look whether a GPU that another user's muster holds is free, while somebody here
  // waits for one. Nobody could tell us.
  std::chrono::milliseconds locked_gpu_interval{2000};
};

class Scheduling {
 public:
  // Starts its threads. Everything is borrowed and outlives it.
  Scheduling(cluster::Client& client, node::GpuAllocator& gpus, base::Clock& clock,
             SchedulingOptions options);
  ~Scheduling();  // what was decided and not yet written is decided again later
  Scheduling(const Scheduling&) = delete;
  Scheduling& operator=(const Scheduling&) = delete;

  // The allocator has its inventory. Any thread.
  void GpusAreKnown();

 private:
  struct Pass;
  enum class List { kPods = 1, kJobs = 2, kPriorityClasses = 4 };

  void Run();
  bool IsReady() const { return lists_missing_ == 0; }
  scheduler::Node DescribeNode() const;
  // With the lock held: decides, takes GPU locks, assumes. Nothing is written.
  Pass Decide();
  bool LockGpus(const scheduler::Decision& decision, std::set<int>& locked_elsewhere);
  void AddBindings(const scheduler::Decision& decision, Pass& pass);
  void AddMessages(const scheduler::Decision& decision, Pass& pass);
  // Without the lock. Whether something is to be tried again soon.
  bool Write(Pass& pass);
  void Tell(const Pass& pass);

  void Reflect(const api::Resource& resource, List list);
  // Whether the scheduler looks at what changed.
  bool Put(List list, const text::Json& object);
  bool Remove(List list, const std::string& key);
  void Changed(bool is_relevant);
  void PodsGone(const std::vector<std::string>& uids);

  cluster::Client& client_;
  node::GpuAllocator& gpus_;
  base::Clock& clock_;
  const SchedulingOptions options_;
  controller::EventRecorder events_;

  std::mutex mutex_;
  std::condition_variable wake_;
  SchedulingView view_;
  int lists_missing_ = 7;  // bits of List
  bool is_changed_ = false;
  bool is_stopped_ = false;
  std::set<std::string> warned_jobs_;  // uids: the wish for GPUs is ignored, and that was said

  base::Backoff backoff_{std::chrono::milliseconds(100), std::chrono::seconds(10)};
  std::vector<std::unique_ptr<cluster::Reflector>> reflectors_;
  std::thread thread_;
};

}  // namespace local::daemon
