#include "local/command/stop_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/job/pytorch_job.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "local/daemon/deployments/deployment_plan.h"
#include "text/json.h"

namespace local::command {
namespace {

constexpr std::string_view kStoppedReason = "ClusterStopped";
constexpr std::string_view kStoppedMessage =
    "The embedded cluster was stopped by `muster down --force`.";
// The grace period of a pod that sets none, as in Kubernetes.
constexpr int64_t kDefaultGraceSeconds = 30;
// In addition to the grace period: for the kill, and for the deletion of the object.
constexpr int64_t kEndSeconds = 60;

std::vector<std::string> NamesOf(const std::vector<text::Json>& objects) {
  std::vector<std::string> names;
  for (const text::Json& object : objects) {
    names.push_back(fmt::format("{}/{}", api::Namespace(object), api::Name(object)));
  }
  return names;
}

// What runs, or is about to, and would be left alone. Pods of Deployments do not count: the next
// daemon creates them again.
struct Running {
  std::vector<text::Json> jobs;
  // Of jobs that have succeeded and let them run on (cleanPodPolicy None).
  std::vector<text::Json> left_pods;
  std::vector<text::Json> bare_pods;  // without a job

  bool IsEmpty() const { return jobs.empty() && left_pods.empty() && bare_pods.empty(); }
};

// Those that a node of this cluster runs, or will. Nobody ends a pod that its author has bound to
// a node which does not exist.
base::Result<std::vector<text::Json>> BoundPods(cluster::Client& client, std::string labels) {
  cluster::ListOptions active;
  active.label_selector = std::move(labels);
  active.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  TRY_ASSIGN(auto pods, client.List(api::kPods, active));
  std::erase_if(pods.items, [](const text::Json& pod) { return api::NodeName(pod).empty(); });
  if (pods.items.empty()) return std::move(pods.items);
  std::set<std::string, std::less<>> here;
  TRY_ASSIGN(const auto nodes, client.List(api::kNodes, {}));
  for (const text::Json& node : nodes.items) here.emplace(api::Name(node));
  std::erase_if(pods.items,
                [&here](const text::Json& pod) { return !here.contains(api::NodeName(pod)); });
  return std::move(pods.items);
}

base::Result<api::JobStatus> StatusOf(const text::Json& job) {
  const text::Json* const stored = text::Find(job, {"status"});
  return api::ParseJobStatus(stored != nullptr ? *stored : text::Json(text::Object()));
}

base::Result<Running> FindRunning(cluster::Client& client) {
  Running running;
  TRY_ASSIGN(const auto pods, BoundPods(client, std::string(api::kJobNameLabel)));
  std::map<std::pair<std::string, std::string>, std::vector<text::Json>> by_job;
  for (const text::Json& pod : pods) {
    by_job[{std::string(api::Namespace(pod)), std::string(api::Label(pod, api::kJobNameLabel))}]
        .push_back(pod);
  }
  for (auto& [job_name, its_pods] : by_job) {
    auto job = client.Get(api::kPyTorchJobs, job_name.first, job_name.second);
    if (!job) {
      if (job.error().code == base::Code::kNotFound) continue;
      return base::Fail(job.error());
    }
    TRY_ASSIGN(const api::JobStatus status, StatusOf(*job));
    if (status.IsFinished()) {
      std::move(its_pods.begin(), its_pods.end(), std::back_inserter(running.left_pods));
    } else {
      running.jobs.push_back(std::move(*job));
    }
  }
  TRY_ASSIGN(running.bare_pods, BoundPods(client, fmt::format("!{},!{}", api::kJobNameLabel,
                                                              daemon::kTemplateHashLabel)));
  return running;
}

// "a job is still running: team/train, and pods: default/a, default/b. ..."
std::string Refusal(const Running& running) {
  const auto describe = [](std::string_view kind, std::string_view verb,
                           const std::vector<text::Json>& objects) {
    const bool is_one = objects.size() == 1;
    return fmt::format("{}{}{}: {}", is_one ? fmt::format("a {}", kind) : fmt::format("{}s", kind),
                       verb.empty() ? "" : (is_one ? " is" : " are"), verb,
                       fmt::join(NamesOf(objects), ", "));
  };
  constexpr std::string_view kRuns = " still running";
  std::vector<text::Json> pods = running.left_pods;
  pods.insert(pods.end(), running.bare_pods.begin(), running.bare_pods.end());
  std::string text =
      running.jobs.empty() ? describe("pod", kRuns, pods) : describe("job", kRuns, running.jobs);
  const bool has_both = !running.jobs.empty() && !pods.empty();
  if (has_both) text += ", and " + describe("pod", "", pods);
  const bool is_one = running.jobs.size() + pods.size() == 1;
  return fmt::format("{}. `muster down --force` ends {} first{}", text, is_one ? "it" : "them",
                     running.jobs.empty() ? ""
                     : has_both           ? ", jobs as FAILED"
                                          : ", as FAILED");
}

base::Status FailJob(cluster::Client& client, const text::Json& job, base::Time now) {
  TRY_ASSIGN(api::JobStatus status, StatusOf(job));
  for (api::Condition& condition : status.conditions) {
    if (condition.type == "Running") condition.status = "False";
  }
  api::Condition failed;
  failed.type = "Failed";
  failed.status = "True";
  failed.reason = kStoppedReason;
  failed.message = kStoppedMessage;
  failed.last_update_time = now;
  failed.last_transition_time = now;
  status.conditions.push_back(std::move(failed));
  status.completion_time = now;
  // Whatever its version: the controller may be writing, too.
  const text::Json patch = text::Object{{"status", api::StatusToJson(status)}};
  TRY(client.Patch(api::kPyTorchJobs, api::Namespace(job), api::Name(job),
                   cluster::PatchType::kMerge, patch, "status"));
  return {};
}

std::set<std::string> UidsOf(const std::vector<text::Json>& pods) {
  std::set<std::string> uids;
  for (const text::Json& pod : pods) uids.emplace(api::Uid(pod));
  return uids;
}

// Waits until `uids` have ended or are deleted; kExpired when the server has forgotten what
// happened since the list of `from`.
base::Status WatchEnd(cluster::Client& client, const cluster::ListOptions& from,
                      std::set<std::string>& uids) {
  TRY_ASSIGN(const auto watch, client.OpenWatch(api::kPods, from));
  while (!uids.empty()) {
    TRY_ASSIGN(const auto event, watch->Next());
    if (!event) {
      return base::Fail(base::Code::kTimeout, fmt::format("{} pods did not end within {} s",
                                                          uids.size(), from.timeout_seconds));
    }
    const bool is_gone = event->type == cluster::WatchEvent::Type::kDeleted;
    if (is_gone || api::IsPodFinished(event->object)) {
      uids.erase(std::string(api::Uid(event->object)));
    }
  }
  return {};
}

// Waits until the pods in `list` have ended or are deleted: all of them, or those of `only`.
base::Status AwaitEnd(cluster::Client& client, cluster::ListOptions list,
                      std::optional<std::set<std::string>> only = std::nullopt) {
  for (;;) {
    list.resource_version.clear();
    TRY_ASSIGN(auto pods, client.List(api::kPods, list));
    std::erase_if(pods.items, [&only](const text::Json& pod) {
      return api::IsPodFinished(pod) || (only && !only->contains(std::string(api::Uid(pod))));
    });
    only = UidsOf(pods.items);
    if (only->empty()) return {};
    int64_t grace = 0;
    for (const text::Json& pod : pods.items) {
      const auto own = text::GetInt(pod, {"spec", "terminationGracePeriodSeconds"});
      grace = std::max(grace, own.value_or(kDefaultGraceSeconds));
    }
    list.timeout_seconds = grace + kEndSeconds;
    list.resource_version = pods.resource_version;
    const base::Status ended = WatchEnd(client, list, *only);
    if (ended || ended.error().code != base::Code::kExpired) return ended;
  }
}

// Waits until the pods of the jobs have ended: they end because their jobs have failed, and stay
// with their logs.
base::Status AwaitPods(cluster::Client& client, const std::vector<text::Json>& jobs) {
  for (const text::Json& job : jobs) {
    cluster::ListOptions list;
    list.namespace_name = api::Namespace(job);
    list.label_selector = fmt::format("{}={}", api::kJobNameLabel, api::Name(job));
    TRY(AwaitEnd(client, std::move(list)));
  }
  return {};
}

// They stay with their logs, and their job as it is.
base::Status EndLeftPods(cluster::Client& client, const std::vector<text::Json>& pods) {
  if (pods.empty()) return {};
  text::Json patch = text::Object();
  text::Set(patch, {"metadata", "annotations", api::kEndAnnotation}, text::Json(kStoppedMessage));
  for (const text::Json& pod : pods) {
    const auto patched = client.Patch(api::kPods, api::Namespace(pod), api::Name(pod),
                                      cluster::PatchType::kMerge, patch);
    if (!patched && patched.error().code != base::Code::kNotFound) {
      return base::Fail(patched.error());
    }
  }
  return AwaitEnd(client, {}, UidsOf(pods));
}

// Nothing would end or keep them, so they are deleted, as `kubectl delete` does.
base::Status DeleteBarePods(cluster::Client& client, const std::vector<text::Json>& pods) {
  if (pods.empty()) return {};
  for (const text::Json& pod : pods) {
    const base::Status deleted = client.Delete(api::kPods, api::Namespace(pod), api::Name(pod));
    if (!deleted && deleted.error().code != base::Code::kNotFound) return deleted;
  }
  return AwaitEnd(client, {}, UidsOf(pods));
}

// Ends the pods of Deployments (TensorBoards) and waits until they are deleted; the next daemon
// creates them again.
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
  return AwaitEnd(client, std::move(list));
}

base::Status EndAll(cluster::Client& client, const Running& running, base::Time now) {
  for (const text::Json& job : running.jobs) TRY(FailJob(client, job, now));
  TRY(AwaitPods(client, running.jobs));
  TRY(EndLeftPods(client, running.left_pods));
  TRY(DeleteBarePods(client, running.bare_pods));
  return StopDeployments(client);
}

}  // namespace

base::Status StopCluster(cluster::Client& client, base::Clock& clock, bool force,
                         const std::function<base::Status()>& stop) {
  const base::Result<Running> running = FindRunning(client);
  if (running && !running->IsEmpty() && !force) {
    return base::Fail(base::Code::kInvalidArgument, Refusal(*running));
  }
  const base::Status ended =
      running ? EndAll(client, *running, clock.Now()) : base::Status(base::Fail(running.error()));
  if (!ended && !force) return ended;
  TRY(stop());
  if (ended) return {};
  return base::Fail(
      ended.error().Wrap("the embedded cluster is down, but jobs may still be running; `muster up` "
                         "takes them over again"));
}

}  // namespace local::command
