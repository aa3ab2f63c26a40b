// What the scheduler needs to know of pods, jobs and priority classes, stored compactly and grouped
// into gangs. Pure; not thread safe.
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
#include "text/document.h"
#include "text/json.h"

namespace local::daemon {

struct ScheduledPod {
  std::string uid;
  std::string namespace_name;
  std::string name;
  std::string job_uid;  // of the PyTorchJob that controls it; "": none
  std::string job_name;
  std::string replica_type;  // lower case
  int replica_index = 0;
  scheduler::Requests requests;
  std::string priority_class;
  std::optional<int32_t> priority;  // spec.priority, resolved by the pod's creator
  base::Time created{};
  std::string node;  // "" while not bound
  std::vector<int> gpus;
  enum class Phase { kActive, kSucceeded, kFailed };
  Phase phase = Phase::kActive;
  bool is_deleting = false;
  std::string message;  // of PodScheduled=False, as stored in the API
  std::string qos_class;
  // We have bound it, but the API has not reported that yet.
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
  std::optional<base::Time> running_since;
  std::optional<int> min_available;
  bool is_over = false;      // finished, being deleted or suspended: none of its pods may start
  bool has_started = false;  // it has the condition Running or Restarting
  struct Replicas {
    int count = 0;
    scheduler::Requests requests;  // of each replica
  };
  std::map<std::string, Replicas> replicas;  // by type, lower case
};

class SchedulingView {
 public:
  explicit SchedulingView(std::string node_name) : node_name_(std::move(node_name)) {}

  // Parses the fields that PutPod reads.
  static base::Result<text::Json> ReadPod(const text::Document& pod);

  // Each returns whether the change matters to the scheduler.
  bool PutPod(const text::Json& pod);
  bool RemovePod(std::string_view uid);
  bool PutJob(const text::Json& job);
  bool RemoveJob(std::string_view uid);
  bool PutPriorityClass(const text::Json& priority_class);
  bool RemovePriorityClass(std::string_view name);
  bool PutNode(const text::Json& node);
  bool RemoveNode(std::string_view name);

  // To be called after each object of a list was put: removes what is not among these uids (or
  // names of priority classes; JSON strings). Returns the uids of removed pods.
  std::vector<std::string> KeepPods(const std::vector<text::Json>& uids);
  void KeepJobs(const std::vector<text::Json>& uids);
  void KeepPriorityClasses(const std::vector<text::Json>& names);
  void KeepNodes(const std::vector<text::Json>& names);

  // Gangs with at least one pod, or with a reserved place.
  std::vector<scheduler::Gang> Gangs() const;
  const ScheduledPod* FindPod(const std::string& uid) const;
  const ScheduledJob* FindJob(const std::string& uid) const;
  // The job of a gang by its key; nullptr for a pod without a job.
  const ScheduledJob* JobOfGang(const std::string& key) const;

  // Whether this machine's node is unschedulable.
  bool is_cordoned() const { return is_cordoned_; }

  // "" means the default class.
  int32_t PriorityOf(const std::string& class_name) const;

  // Records a binding until the API reports it.
  void Assume(const std::string& pod_uid, std::vector<int> gpus);
  void Unassume(const std::string& pod_uid);
  void SetMessage(const std::string& pod_uid, std::string message);

 private:
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
  bool is_cordoned_ = false;
};

}  // namespace local::daemon
