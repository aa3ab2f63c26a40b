// The loop that feeds the pure scheduler (local/scheduler) from watches and writes its decisions:
// bindings, all of a gang at once, and the reason for each pod that waits.
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
  // The machine's memory and CPUs; 0: as the machine reports.
  int64_t cpu_milli = 0;
  int64_t memory = 0;
  // How often to check whether a GPU held by another user's muster is free, while a pod here waits
  // for one: there is no event for that.
  std::chrono::milliseconds locked_gpu_interval{2000};
};

class Scheduling {
 public:
  // Starts its threads. Everything is borrowed and must outlive it.
  Scheduling(cluster::Client& client, node::GpuAllocator& gpus, base::Clock& clock,
             SchedulingOptions options);
  ~Scheduling();  // unwritten decisions are made again later
  Scheduling(const Scheduling&) = delete;
  Scheduling& operator=(const Scheduling&) = delete;

  // The allocator has its inventory. Callable from any thread.
  void GpusAreKnown();

  // The basis of the next decision; the priority is that of the class. Any thread.
  struct Snapshot {
    scheduler::Node node;
    std::vector<scheduler::Gang> gangs;
    scheduler::GpuPolicy policy = scheduler::GpuPolicy::kAuto;
    int32_t priority = 0;
  };
  // Blocks, for at most some seconds, while the GPUs are not known yet.
  Snapshot Look(const std::string& priority_class) const;

 private:
  struct Round;
  enum class List { kPods = 1, kJobs = 2, kPriorityClasses = 4, kNodes = 8 };

  void Run();
  bool IsReady() const { return lists_missing_ == 0; }
  scheduler::Node DescribeNode() const;
  // The caller holds the lock. Decides, takes GPU locks and assumes the bindings, without writing.
  Round Decide();
  bool LockGpus(const scheduler::Decision& decision, std::set<int>& locked_elsewhere);
  void AddBindings(const scheduler::Decision& decision, Round& round);
  void AddMessages(const scheduler::Decision& decision, Round& round);
  // Called without the lock. Returns whether to try again soon.
  bool Write(Round& round);
  void RecordEvents(const Round& round);

  void Reflect(const api::Resource& resource, List list);
  // Whether the change matters to the scheduler.
  bool Put(List list, const text::Json& object);
  bool Remove(List list, const std::string& key);
  void Changed(bool is_relevant);
  void PodsGone(const std::vector<std::string>& uids);

  cluster::Client& client_;
  node::GpuAllocator& gpus_;
  base::Clock& clock_;
  const SchedulingOptions options_;
  controller::EventRecorder events_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  SchedulingView view_;
  int lists_missing_ = 15;  // bits of List
  bool is_changed_ = false;
  bool is_stopped_ = false;
  std::set<std::string> warned_jobs_;  // uids of jobs that were warned that their wish for GPUs is
                                       // ignored

  base::Backoff backoff_{std::chrono::milliseconds(100), std::chrono::seconds(10)};
  std::vector<std::unique_ptr<cluster::Reflector>> reflectors_;
  std::thread thread_;
};

}  // namespace local::daemon
