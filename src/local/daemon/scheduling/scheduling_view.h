// What the scheduler must know of pods, jobs and priority classes, kept small, and put together as
// gangs. Pure; not thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "local/scheduler/scheduler.h"
#include "text/json.h"

namespace local::daemon {

struct ScheduledPod {
  std::string uid;
  std::string namespace_name;
  std::string name;
  std::string job_uid;  // of the PyTorchJob that controls it; "" for others
  std::string job_name;
  std::string replica_type;  // lower case
  int replica_index = 0;
  scheduler::Requests requests;
  std::string priority_class;
  std::optional<int32_t> priority;  // spec.priority: resolved by the pod's creator
  base::Time created{};
  std::string node;  // "" while not bound
  std::vector<int> gpus;
  enum class Phase { kActive, kSucceeded, kFailed };
  Phase phase = Phase::kActive;
  bool is_deleting = false;
  std::string message;  // of PodScheduled=False, as it stands in the API
  std::string qos_class;
  // Bound by us, and the API has not yet shown it.
  bool is_assumed = false;
};

struct ScheduledJob {
  std::string uid;
  std::string namespace_name;
  std::string name;
  base::Time created{};
  std::string priority_class;
  std::optional<base::Duration> active_deadline;
  std::optional<base::Time> start_time;
  std::optional<int> min_available;
  bool is_over = false;      // finished, being deleted or suspended: nothing of it starts
  bool has_started = false;  // conditions Running or Restarting
  struct Replicas {
    int count = 0;
    scheduler::Requests requests;  // of each
  };
  std::map<std::string, Replicas> replicas;  // by type, lower case
};

class SchedulingView {
 public:
  explicit SchedulingView(std::string node_name) : node_name_(std::move(node_name)) {}

  // What PutPod looks at.
  static base::Result<text::Json> ReadPod(std::string_view text);

  // Each tells whether something changed that the scheduler looks at.
  bool PutPod(const text::Json& pod);
  bool RemovePod(std::string_view uid);
  bool PutJob(const text::Json& job);
  bool RemoveJob(std::string_view uid);
  bool PutPriorityClass(const text::Json& priority_class);
  bool RemovePriorityClass(std::string_view name);

  // After each of a list was put: what is not among these uids (names of priority classes; JSON
  // strings) is gone. The uids of pods that are.
  std::vector<std::string> KeepPods(const std::vector<text::Json>& uids);
  void KeepJobs(const std::vector<text::Json>& uids);
  void KeepPriorityClasses(const std::vector<text::Json>& names);

  // Gangs with at least one pod, or a place to keep.
  std::vector<scheduler::Gang> Gangs() const;
  const ScheduledPod* FindPod(const std::string& uid) const;
  const ScheduledJob* FindJob(const std::string& uid) const;
  // The job of a gang by its key, nullptr when it is a pod without one.
  const ScheduledJob* JobOfGang(const std::string& key) const;

  // Between the decision and the API's word on it.
  void Assume(const std::string& pod_uid, std::vector<int> gpus);
  void Unassume(const std::string& pod_uid);
  void SetMessage(const std::string& pod_uid, std::string message);

 private:
  int32_t PriorityOf(const std::string& class_name) const;
  scheduler::Gang GangOfJob(const ScheduledJob& job,
                            const std::vector<const ScheduledPod*>& pods) const;
  void CountMissing(const ScheduledJob& job, const std::vector<const ScheduledPod*>& pods,
                    scheduler::Gang& gang) const;
  void AddPods(const std::vector<const ScheduledPod*>& pods, bool may_start,
               scheduler::Gang& gang) const;

  const std::string node_name_;
  std::map<std::string, ScheduledPod, std::less<>> pods_;  // by uid
  std::map<std::string, ScheduledJob, std::less<>> jobs_;  // by uid
  struct Priority {
    int32_t value = 0;
    bool is_default = false;
  };
  std::map<std::string, Priority, std::less<>> priorities_;  // by name
};

}  // namespace local::daemon
