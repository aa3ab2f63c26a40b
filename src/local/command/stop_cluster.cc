#include "local/command/stop_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/pytorch_job.h"
#include "api/resources.h"
#include "local/daemon/deployment_plan.h"
#include "text/json.h"

namespace local::command {
namespace {

constexpr std::string_view kStoppedReason = "ClusterStopped";
// What a pod has to end in that names no time, as in Kubernetes.
constexpr int64_t kDefaultGraceSeconds = 30;
// Beyond its grace: for the kill, and for the object to go.
constexpr int64_t kEndSeconds = 60;

std::vector<std::string> NamesOf(const std::vector<text::Json>& objects) {
  std::vector<std::string> names;
  for (const text::Json& object : objects) {
    names.push_back(fmt::format("{}/{}", api::Namespace(object), api::Name(object)));
  }
  return names;
}

// Jobs that have a pod that is starting or running.
base::Result<std::vector<text::Json>> RunningJobs(cluster::Client& client) {
  cluster::ListOptions active;
  active.label_selector = api::kJobNameLabel;
  active.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  TRY_ASSIGN(const auto pods, client.List(api::kPods, active));
  std::set<std::pair<std::string, std::string>> names;
  for (const text::Json& pod : pods.items) {
    if (api::NodeName(pod).empty()) continue;
    names.emplace(api::Namespace(pod), api::Label(pod, api::kJobNameLabel));
  }
  std::vector<text::Json> jobs;
  for (const auto& [namespace_name, name] : names) {
    auto job = client.Get(api::kPyTorchJobs, namespace_name, name);
    if (job) {
      jobs.push_back(std::move(*job));
    } else if (job.error().code != base::Code::kNotFound) {
      return base::Fail(job.error());
    }
  }
  return jobs;
}

base::Status FailJob(cluster::Client& client, text::Json job, base::Time now) {
  const text::Json* const stored = text::Find(job, {"status"});
  TRY_ASSIGN(api::JobStatus status,
             api::ParseJobStatus(stored != nullptr ? *stored : text::Json(text::Object())));
  for (api::Condition& condition : status.conditions) {
    if (condition.type == "Running") condition.status = "False";
  }
  api::Condition failed;
  failed.type = "Failed";
  failed.status = "True";
  failed.reason = kStoppedReason;
  failed.message = "The embedded cluster was stopped by `muster down --force`.";
  failed.last_update_time = now;
  failed.last_transition_time = now;
  status.conditions.push_back(std::move(failed));
  status.completion_time = now;
  text::Set(job, {"status"}, api::StatusToJson(status));
  text::Erase(job, {"metadata", "resourceVersion"});
  TRY(client.UpdateStatus(api::kPyTorchJobs, job));
  return {};
}

// The pods of a list that have not ended, and when they must have.
struct Ending {
  std::set<std::string> uids;
  int64_t seconds = 0;

  explicit Ending(const std::vector<text::Json>& pods) {
    for (const text::Json& pod : pods) {
      if (api::IsPodFinished(pod)) continue;
      uids.emplace(api::Uid(pod));
      const auto grace = text::GetInt(pod, {"spec", "terminationGracePeriodSeconds"});
      seconds = std::max(seconds, grace.value_or(kDefaultGraceSeconds));
    }
    seconds += kEndSeconds;
  }
};

// Returns when the pods are gone; `from` is the list that they were found in.
base::Status AwaitDeletion(cluster::Client& client, cluster::ListOptions from, Ending ending) {
  if (ending.uids.empty()) return {};
  from.timeout_seconds = ending.seconds;
  TRY_ASSIGN(const auto watch, client.OpenWatch(api::kPods, from));
  while (!ending.uids.empty()) {
    TRY_ASSIGN(const auto event, watch->Next());
    if (!event) {
      return base::Fail(base::Code::kTimeout, fmt::format("{} pods did not end within {} s",
                                                          ending.uids.size(), ending.seconds));
    }
    if (event->type == cluster::WatchEvent::Type::kDeleted) {
      ending.uids.erase(std::string(api::Uid(event->object)));
    }
  }
  return {};
}

// Ends the jobs' pods and returns when they are gone.
base::Status DeletePods(cluster::Client& client, const std::vector<text::Json>& jobs) {
  for (const text::Json& job : jobs) {
    cluster::ListOptions list;
    list.namespace_name = api::Namespace(job);
    list.label_selector = fmt::format("{}={}", api::kJobNameLabel, api::Name(job));
    TRY_ASSIGN(const auto pods, client.List(api::kPods, list));
    for (const text::Json& pod : pods.items) {
      if (api::IsPodFinished(pod)) continue;
      const base::Status deleted = client.Delete(api::kPods, list.namespace_name, api::Name(pod));
      if (!deleted && deleted.error().code != base::Code::kNotFound) return deleted;
    }
    list.resource_version = pods.resource_version;
    TRY(AwaitDeletion(client, list, Ending(pods.items)));
  }
  return {};
}

// Ends the pods of Deployments (TensorBoards) and returns when they are gone; the next daemon makes
// them anew.
base::Status StopDeployments(cluster::Client& client) {
  TRY_ASSIGN(const auto deployments, client.List(api::kDeployments, {}));
  if (deployments.items.empty()) return {};
  text::Json patch = text::Object();
  text::Set(patch, {"metadata", "annotations", api::kStoppedAnnotation}, "true");
  for (const text::Json& deployment : deployments.items) {
    const auto patched = client.Patch(api::kDeployments, api::Namespace(deployment),
                                      api::Name(deployment), cluster::PatchType::kMerge, patch);
    if (!patched && patched.error().code != base::Code::kNotFound) {
      return base::Fail(patched.error());
    }
  }
  cluster::ListOptions list;
  list.label_selector = daemon::kTemplateHashLabel;
  TRY_ASSIGN(const auto pods, client.List(api::kPods, list));
  list.resource_version = pods.resource_version;
  return AwaitDeletion(client, list, Ending(pods.items));
}

base::Status EndJobs(cluster::Client& client, const std::vector<text::Json>& jobs, base::Time now) {
  for (const text::Json& job : jobs) TRY(FailJob(client, job, now));
  TRY(DeletePods(client, jobs));
  return StopDeployments(client);
}

}  // namespace

base::Status StopCluster(cluster::Client& client, base::Clock& clock, bool force,
                         const std::function<base::Status()>& stop) {
  const base::Result<std::vector<text::Json>> jobs = RunningJobs(client);
  if (jobs && !jobs->empty() && !force) {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("{} still running: {}. `muster down --force` ends {} first, as FAILED",
                    jobs->size() == 1 ? "a job is" : "jobs are", fmt::join(NamesOf(*jobs), ", "),
                    jobs->size() == 1 ? "it" : "them"));
  }
  const base::Status ended =
      jobs ? EndJobs(client, *jobs, clock.Now()) : base::Status(base::Fail(jobs.error()));
  if (!ended && !force) return ended;
  TRY(stop());
  if (ended) return {};
  return base::Fail(ended.error().Wrap(
      "the embedded cluster is down, but jobs may still run; `muster up` takes them on again"));
}

}  // namespace local::command
