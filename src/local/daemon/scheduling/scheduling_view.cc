#include "local/daemon/scheduling/scheduling_view.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "api/job/pytorch_job.h"
#include "api/kinds.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/log.h"
#include "base/strings.h"
#include "local/node/devices/gpu.h"
#include "text/projection.h"

namespace local::daemon {

namespace {

using Phase = ScheduledPod::Phase;
using text::GetString;

scheduler::Requests RequestsOf(const text::Json& pod) {
  const api::ResourceRequest request = api::PodRequest(pod);
  return {request.gpus, request.cpu_milli, request.memory_bytes};
}

Phase PhaseOf(const text::Json& pod) {
  const std::string_view phase = api::Phase(pod);
  if (phase == "Succeeded") return Phase::kSucceeded;
  return phase == "Failed" ? Phase::kFailed : Phase::kActive;
}

ScheduledPod PodOf(const text::Json& object) {
  ScheduledPod pod;
  pod.uid = api::Uid(object);
  pod.namespace_name = api::Namespace(object);
  pod.name = api::Name(object);
  if (const text::Json* owner = api::ControllerReference(object);
      owner != nullptr && GetString(*owner, {"kind"}) == api::kPyTorchJobs.kind) {
    pod.job_uid = GetString(*owner, {"uid"});
    pod.job_name = GetString(*owner, {"name"});
  }
  pod.replica_type = api::Label(object, api::kReplicaTypeLabel);
  pod.replica_index =
      static_cast<int>(base::ParseInt(api::Label(object, api::kReplicaIndexLabel)).value_or(0));
  pod.requests = RequestsOf(object);
  pod.priority_class = api::PriorityClass(object);
  if (const auto priority = text::GetInt(object, {"spec", "priority"})) {
    pod.priority = static_cast<int32_t>(*priority);
  }
  pod.created = api::CreationTime(object).value_or(base::Time());
  pod.node = api::NodeName(object);
  if (!pod.node.empty()) {
    pod.gpus = node::ParseUnits(api::Annotation(object, api::kGpusAnnotation));
  }
  pod.phase = PhaseOf(object);
  pod.is_deleting = api::IsDeleting(object);
  pod.qos_class = GetString(object, {"status", "qosClass"});
  if (const text::Json* condition = api::FindCondition(object, "PodScheduled");
      condition != nullptr && GetString(*condition, {"status"}) == "False") {
    pod.message = GetString(*condition, {"message"});
  }
  return pod;
}

// Whether they are equal to the scheduler, which sets the message itself.
bool IsSame(const ScheduledPod& a, const ScheduledPod& b) {
  return std::tie(a.node, a.gpus, a.phase, a.is_deleting, a.is_assumed) ==
         std::tie(b.node, b.gpus, b.phase, b.is_deleting, b.is_assumed);
}

ScheduledJob ReadJob(const text::Json& object) {
  ScheduledJob job;
  job.uid = api::Uid(object);
  job.namespace_name = api::Namespace(object);
  job.name = api::Name(object);
  job.created = api::CreationTime(object).value_or(base::Time());
  auto parsed = api::ParsePyTorchJob(object);
  if (!parsed) {
    // The reconciler will record it; the job has no pods to start.
    job.is_over = true;
    return job;
  }
  api::SetDefaults(*parsed);
  const api::RunPolicy& policy = parsed->run_policy;
  job.is_over = parsed->status.IsFinished() || parsed->is_deleting || policy.suspend;
  job.has_started = parsed->status.Is("Running") || parsed->status.Is("Restarting");
  job.start_time = parsed->status.start_time;
  if (parsed->status.Is("Running")) {
    job.running_since = parsed->status.Find("Running")->last_transition_time;
  }
  if (policy.active_deadline_seconds) {
    job.active_deadline = std::chrono::seconds(*policy.active_deadline_seconds);
  }
  if (policy.scheduling_policy) {
    job.min_available = policy.scheduling_policy->min_available;
    job.priority_class = policy.scheduling_policy->priority_class;
  }
  for (const auto& [type, spec] : parsed->replica_specs) {
    job.replicas[base::ToLower(type)] = {spec.Replicas(), RequestsOf(spec.template_json)};
    if (job.priority_class.empty()) job.priority_class = api::PriorityClass(spec.template_json);
  }
  return job;
}

bool IsSame(const ScheduledJob& a, const ScheduledJob& b) {
  const auto key = [](const ScheduledJob& job) {
    int replicas = 0;
    for (const auto& [type, each] : job.replicas) replicas += each.count;
    return std::tuple(job.priority_class, job.active_deadline, job.start_time, job.min_available,
                      job.is_over, job.has_started, replicas);
  };
  return key(a) == key(b);
}

std::string KeyOf(const std::string& namespace_name, const std::string& name) {
  return namespace_name + "/" + name;
}

// The master first, then workers by index.
bool ComesBefore(const ScheduledPod* a, const ScheduledPod* b) {
  return std::tie(a->replica_type, a->replica_index, a->name) <
         std::tie(b->replica_type, b->replica_index, b->name);
}

// Removes the keys that were not listed from `known`, and returns them.
template <typename Known>
std::vector<std::string> KeepListed(const std::vector<text::Json>& keys, Known& known) {
  std::unordered_set<std::string_view> listed;
  listed.reserve(keys.size());
  for (const text::Json& key : keys) {
    if (const auto* const text = key.if_string()) listed.insert(*text);
  }
  std::vector<std::string> gone;
  for (const auto& [key, value] : known) {
    if (!listed.contains(key)) gone.push_back(key);
  }
  for (const std::string& key : gone) known.erase(key);
  return gone;
}

}  // namespace

base::Result<text::Json> SchedulingView::ReadPod(const text::Document& pod) {
  static const text::Projection kParts{
      {"metadata", "name"},
      {"metadata", "namespace"},
      {"metadata", "uid"},
      {"metadata", "resourceVersion"},
      {"metadata", "creationTimestamp"},
      {"metadata", "deletionTimestamp"},
      {"metadata", "labels", api::kReplicaTypeLabel},
      {"metadata", "labels", api::kReplicaIndexLabel},
      {"metadata", "annotations", api::kGpusAnnotation},
      {"metadata", "ownerReferences"},
      {"spec", "nodeName"},
      {"spec", "priority"},
      {"spec", "priorityClassName"},
      {"spec", "overhead"},
      {"spec", "containers", "resources"},
      {"spec", "initContainers", "resources"},
      {"spec", "initContainers", "restartPolicy"},
      {"status", "phase"},
      {"status", "qosClass"},
      {"status", "conditions"},
  };
  return pod.Part(kParts);
}

bool SchedulingView::PutPod(const text::Json& object) {
  ScheduledPod pod = PodOf(object);
  const auto [it, is_new] = pods_.try_emplace(pod.uid);
  ScheduledPod& known = it->second;
  // An event from before our binding must not undo it.
  if (!is_new && known.is_assumed && pod.node.empty() && pod.phase == Phase::kActive) {
    pod.is_assumed = true;
    pod.node = known.node;
    pod.gpus = known.gpus;
  }
  const bool is_changed = is_new || !IsSame(known, pod);
  known = std::move(pod);
  return is_changed;
}

bool SchedulingView::RemovePod(std::string_view uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return false;
  pods_.erase(it);
  return true;
}

std::vector<std::string> SchedulingView::KeepPods(const std::vector<text::Json>& uids) {
  return KeepListed(uids, pods_);
}

bool SchedulingView::PutJob(const text::Json& object) {
  ScheduledJob job = ReadJob(object);
  const auto [it, is_new] = jobs_.try_emplace(job.uid);
  const bool is_changed = is_new || !IsSame(it->second, job);
  it->second = std::move(job);
  return is_changed;
}

bool SchedulingView::RemoveJob(std::string_view uid) {
  const auto it = jobs_.find(uid);
  if (it == jobs_.end()) return false;
  jobs_.erase(it);
  return true;
}

void SchedulingView::KeepJobs(const std::vector<text::Json>& uids) { KeepListed(uids, jobs_); }

bool SchedulingView::PutPriorityClass(const text::Json& object) {
  const Priority priority{api::PriorityValue(object), api::IsGlobalDefault(object)};
  priorities_[std::string(api::Name(object))] = priority;
  return true;
}

bool SchedulingView::RemovePriorityClass(std::string_view name) {
  const auto it = priorities_.find(name);
  if (it == priorities_.end()) return false;
  priorities_.erase(it);
  return true;
}

bool SchedulingView::PutNode(const text::Json& node) {
  if (api::Name(node) != node_name_) return false;
  const bool was_cordoned = std::exchange(is_cordoned_, api::IsNodeUnschedulable(node));
  return was_cordoned != is_cordoned_;
}

bool SchedulingView::RemoveNode(std::string_view name) {
  return name == node_name_ && std::exchange(is_cordoned_, false);
}

void SchedulingView::KeepNodes(const std::vector<text::Json>& names) {
  const bool is_there =
      std::find(names.begin(), names.end(), text::Json(node_name_)) != names.end();
  if (!is_there) is_cordoned_ = false;
}

void SchedulingView::KeepPriorityClasses(const std::vector<text::Json>& names) {
  KeepListed(names, priorities_);
}

int32_t SchedulingView::PriorityOf(const std::string& class_name) const {
  if (!class_name.empty()) {
    const auto it = priorities_.find(class_name);
    return it == priorities_.end() ? 0 : it->second.value;
  }
  int32_t value = 0;
  bool is_found = false;
  for (const auto& [name, priority] : priorities_) {
    // Among several defaults the lowest one counts, as in Kubernetes.
    if (!priority.is_default || (is_found && priority.value >= value)) continue;
    value = priority.value;
    is_found = true;
  }
  return value;
}

std::vector<scheduler::Gang> SchedulingView::Gangs() const {
  std::map<std::string, std::vector<const ScheduledPod*>> by_job;
  std::vector<scheduler::Gang> gangs;
  for (const auto& [uid, pod] : pods_) {
    if (!pod.job_uid.empty()) {
      // So that thousands of finished jobs cost almost nothing.
      const ScheduledJob* job = FindJob(pod.job_uid);
      const bool is_past = pod.phase != Phase::kActive && (job == nullptr || job->is_over);
      if (!is_past) by_job[pod.job_uid].push_back(&pod);
      continue;
    }
    scheduler::Gang gang;
    gang.key = KeyOf(pod.namespace_name, pod.name);
    gang.created = pod.created;
    gang.priority = pod.priority.value_or(PriorityOf(pod.priority_class));
    AddPods({&pod}, true, gang);
    if (!gang.pods.empty()) gangs.push_back(std::move(gang));
  }
  for (const auto& [uid, job] : jobs_) {
    if (!job.is_over) by_job.try_emplace(uid);
  }
  for (auto& [uid, pods] : by_job) {
    std::sort(pods.begin(), pods.end(), ComesBefore);
    const ScheduledJob* job = FindJob(uid);
    // An unknown job: its running pods are counted, and the others wait until it is known.
    ScheduledJob unknown;
    if (job == nullptr) {
      unknown.namespace_name = pods.front()->namespace_name;
      unknown.name = pods.front()->job_name;
      unknown.is_over = true;
      job = &unknown;
    }
    scheduler::Gang gang = GangOfJob(*job, pods);
    if (!gang.pods.empty() || (gang.is_started && gang.missing.gpus > 0)) {
      gangs.push_back(std::move(gang));
    }
  }
  return gangs;
}

scheduler::Gang SchedulingView::GangOfJob(const ScheduledJob& job,
                                          const std::vector<const ScheduledPod*>& pods) const {
  scheduler::Gang gang;
  gang.key = KeyOf(job.namespace_name, job.name);
  gang.created = job.created;
  gang.priority = PriorityOf(job.priority_class);
  gang.active_deadline = job.active_deadline;
  gang.active_since = job.start_time;
  gang.running_since = job.running_since;
  gang.min_available = job.min_available;
  AddPods(pods, !job.is_over, gang);
  if (job.is_over) return gang;
  gang.is_started =
      job.has_started || std::any_of(gang.pods.begin(), gang.pods.end(),
                                     [](const scheduler::Pod& pod) { return pod.is_bound; });
  CountMissing(job, pods, gang);
  return gang;
}

void SchedulingView::AddPods(const std::vector<const ScheduledPod*>& pods, bool may_start,
                             scheduler::Gang& gang) const {
  for (const ScheduledPod* pod : pods) {
    if (pod->phase != Phase::kActive) continue;
    const bool is_bound = !pod->node.empty();
    if (is_bound ? pod->node != node_name_ : (pod->is_deleting || !may_start)) continue;
    gang.pods.push_back({pod->uid, pod->name, pod->requests, is_bound, pod->gpus});
  }
}

// Counts the pods of the job that do not exist, or have failed and are about to be recreated, but
// not the ones that have succeeded.
void SchedulingView::CountMissing(const ScheduledJob& job,
                                  const std::vector<const ScheduledPod*>& pods,
                                  scheduler::Gang& gang) const {
  for (const auto& [type, replicas] : job.replicas) {
    std::set<int> there;
    for (const ScheduledPod* pod : pods) {
      if (pod->replica_type != type || pod->phase == Phase::kFailed) continue;
      if (pod->is_deleting && pod->node.empty()) continue;
      there.insert(pod->replica_index);
    }
    for (int index = 0; index < replicas.count; ++index) {
      if (there.contains(index)) continue;
      ++gang.missing_pods;
      gang.missing += replicas.requests;
    }
  }
}

const ScheduledPod* SchedulingView::FindPod(const std::string& uid) const {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : &it->second;
}

const ScheduledJob* SchedulingView::FindJob(const std::string& uid) const {
  const auto it = jobs_.find(uid);
  return it == jobs_.end() ? nullptr : &it->second;
}

const ScheduledJob* SchedulingView::JobOfGang(const std::string& key) const {
  for (const auto& [uid, job] : jobs_) {
    if (KeyOf(job.namespace_name, job.name) == key) return &job;
  }
  return nullptr;
}

void SchedulingView::Assume(const std::string& pod_uid, std::vector<int> gpus) {
  const auto it = pods_.find(pod_uid);
  if (it == pods_.end()) return;
  it->second.is_assumed = true;
  it->second.node = node_name_;
  it->second.gpus = std::move(gpus);
}

void SchedulingView::Unassume(const std::string& pod_uid) {
  const auto it = pods_.find(pod_uid);
  if (it == pods_.end() || !it->second.is_assumed) return;
  it->second.is_assumed = false;
  it->second.node.clear();
  it->second.gpus.clear();
}

void SchedulingView::SetMessage(const std::string& pod_uid, std::string message) {
  const auto it = pods_.find(pod_uid);
  if (it != pods_.end()) it->second.message = std::move(message);
}

}  // namespace local::daemon
