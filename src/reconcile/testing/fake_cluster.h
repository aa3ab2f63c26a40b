// For tests: jobs built in a line, and a small cluster that applies plans as a Kubernetes API
// server would, with a kubelet that is told what to report.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/names.h"
#include "api/resources.h"
#include "reconcile/reconcile.h"
#include "text/json.h"
#include "text/patch.h"

namespace reconcile {

// Conditions of the job `j`, in the format of FakeCluster::Conditions.
inline const std::string kCreatedLine = "Created=True PyTorchJobCreated: PyTorchJob j is created.";
inline const std::string kRunningLine = "Running=True PyTorchJobRunning: PyTorchJob j is running.";

inline text::Json Parse(std::string_view json) {
  auto parsed = text::ParseJson(json);
  EXPECT_TRUE(parsed) << json;
  return parsed ? *std::move(parsed) : text::Json();
}

inline base::Time TestTime() { return *base::ParseRfc3339("2026-07-30T10:00:00Z"); }

struct TestJob {
  bool has_master = true;
  int workers = 2;  // below 0: no Worker
  std::string master_policy = "OnFailure";
  std::string worker_policy = "OnFailure";
  std::string run_policy = "{}";
  std::string spec = "{}";  // merged over the spec
  std::string pod_template =
      R"({"spec":{"containers":[{"name":"pytorch","image":"registry.local/train:1"}]}})";
  std::string metadata = "{}";  // merged over the metadata
  std::string name = "j";

  text::Json Build() const {
    text::Json job = Parse(R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob"})");
    text::Set(job, {"metadata"}, Parse(metadata));
    text::Set(job, {"metadata", "name"}, text::Json(name));
    text::Set(job, {"metadata", "namespace"}, text::Json("ns"));
    text::Set(job, {"metadata", "uid"}, text::Json("uid-of-" + name));
    text::Set(job, {"spec", "pytorchReplicaSpecs"}, text::Object());
    if (has_master) AddReplicas(job, "Master", 1, master_policy);
    if (workers >= 0) AddReplicas(job, "Worker", workers, worker_policy);
    text::Set(job, {"spec", "runPolicy"}, Parse(run_policy));
    const text::Json extra = Parse(spec);
    for (const auto& [key, value] : extra.as_object()) {
      text::Set(job, {"spec", std::string_view(key)}, value);
    }
    return job;
  }

 private:
  void AddReplicas(text::Json& job, std::string_view type, int count,
                   const std::string& policy) const {
    text::Object replicas{{"replicas", count}};
    replicas["template"] = Parse(pod_template);
    if (!policy.empty()) replicas["restartPolicy"] = policy;
    text::Set(job, {"spec", "pytorchReplicaSpecs", type}, std::move(replicas));
  }
};

class FakeCluster {
 public:
  using Objects = std::map<std::string, text::Json>;

  explicit FakeCluster(text::Json stored, Options chosen = {})
      : job(std::move(stored)), options(std::move(chosen)) {}
  explicit FakeCluster(const TestJob& built, Options chosen = {})
      : FakeCluster(built.Build(), std::move(chosen)) {}

  Plan Look() const {
    Observed observed;
    observed.job = &job;
    for (const auto& [name, pod] : pods) observed.pods.push_back(&pod);
    for (const auto& [name, service] : services) observed.services.push_back(&service);
    if (autoscalers.contains(JobName())) observed.autoscaler = &autoscalers.at(JobName());
    if (pod_groups.contains(JobName())) observed.pod_group = &pod_groups.at(JobName());
    observed.priority_values = priority_values;
    observed.master_port = master_port;
    observed.lost_nodes = lost_nodes;
    observed.awaited = awaited;
    if (!announced.empty()) observed.announced = &announced;
    return Reconcile(observed, options, now);
  }

  // One reconciliation: decides and applies the plan.
  Plan Step() {
    Plan plan = Look();
    for (const Write& write : plan.writes) Apply(write);
    if (job.is_null()) return plan;
    if (plan.status) text::Set(job, {"status"}, *plan.status);
    for (const Event& event : plan.events) Record(event);
    announced.insert(plan.troubles.begin(), plan.troubles.end());
    for (const Counter counter : plan.counters) ++counters[counter];
    return plan;
  }

  // Reconciles until nothing is left to do; fails the test when that takes too many steps.
  void Settle() {
    for (int state = 0; state < 12; ++state) {
      const Plan plan = Step();
      if (job.is_null() || (plan.writes.empty() && !plan.status && plan.events.empty())) return;
    }
    ADD_FAILURE() << "does not settle: " << text::ToJson(job);
  }

  // What a kubelet reports.
  void Phase(const std::string& pod, std::string_view phase, int exit_code = -1, int restarts = 0) {
    text::Object container{{"name", "pytorch"}, {"restartCount", restarts}};
    if (exit_code >= 0) {
      container["state"] = text::Object{{"terminated", text::Object{{"exitCode", exit_code}}}};
    } else if (phase == "Running") {
      container["state"] = text::Object{{"running", text::Object()}};
    }
    text::Json& status = text::Ensure(pods.at(pod), {"status"});
    text::Set(status, {"phase"}, text::Json(phase));
    text::Array statuses;
    statuses.emplace_back(std::move(container));
    text::Set(status, {"containerStatuses"}, std::move(statuses));
  }
  void AllRunning() {
    for (const auto& [name, pod] : pods) Phase(name, "Running");
  }
  // Somebody requests the deletion of a pod that takes `grace` seconds to end.
  void BeginDeletion(const std::string& pod, int grace = 30) {
    text::Json& metadata = text::Ensure(pods.at(pod), {"metadata"});
    if (text::Find(metadata, {"deletionTimestamp"}) != nullptr) return;
    text::Set(metadata, {"deletionTimestamp"},
              text::Json(base::FormatRfc3339(now + std::chrono::seconds(grace))));
    text::Set(metadata, {"deletionGracePeriodSeconds"}, grace);
  }
  // Its containers have ended, as the kubelet reports before it requests the deletion once more.
  void EndDeletion(const std::string& pod, int exit_code) {
    Phase(pod, exit_code == 0 ? "Succeeded" : "Failed", exit_code);
    SetFinished(pod);
    text::Json& metadata = text::Ensure(pods.at(pod), {"metadata"});
    text::Set(metadata, {"deletionTimestamp"}, text::Json(base::FormatRfc3339(now)));
    text::Set(metadata, {"deletionGracePeriodSeconds"}, 0);
  }
  // The program ends now.
  void End(const std::string& pod, int exit_code) {
    Phase(pod, exit_code == 0 ? "Succeeded" : "Failed", exit_code);
    SetFinished(pod);
  }
  // Something disrupts the pod; an eviction and a preemption delete it as well.
  void Disrupt(const std::string& pod, std::string_view reason, std::string_view message) {
    text::Json condition = text::Object{{"type", "DisruptionTarget"}, {"status", "True"}};
    text::Set(condition, {"reason"}, text::Json(reason));
    text::Set(condition, {"message"}, text::Json(message));
    text::Set(condition, {"lastTransitionTime"}, text::Json(base::FormatRfc3339(now)));
    text::Array conditions;
    conditions.emplace_back(std::move(condition));
    text::Set(pods.at(pod), {"status", "conditions"}, std::move(conditions));
  }
  void Evict(const std::string& pod) {
    Disrupt(pod, "EvictionByEvictionAPI", "Eviction API: evicting");
    BeginDeletion(pod);
  }
  void FinishDeletions() {
    std::erase_if(pods, [](const auto& entry) {
      return text::Find(entry.second, {"metadata", "deletionTimestamp"}) != nullptr;
    });
  }

  void PatchJob(text::Path path, std::string_view json) { text::Set(job, path, Parse(json)); }

  // "Created=True PyTorchJobCreated: PyTorchJob j is created."
  std::vector<std::string> Conditions() const {
    std::vector<std::string> lines;
    if (const auto* conditions = text::FindArray(job, {"status", "conditions"})) {
      for (const text::Json& condition : *conditions) {
        lines.push_back(String(condition, "type") + "=" + String(condition, "status") + " " +
                        String(condition, "reason") + ": " + String(condition, "message"));
      }
    }
    return lines;
  }
  // "Created=True Running=False"
  std::string Types() const {
    std::string types;
    if (const auto* conditions = text::FindArray(job, {"status", "conditions"})) {
      for (const text::Json& condition : *conditions) {
        if (!types.empty()) types += ' ';
        types += String(condition, "type") + "=" + String(condition, "status");
      }
    }
    return types;
  }
  // "a1 s0 f2"
  std::string Counts(std::string_view type) const {
    const auto count = [&](std::string_view field) {
      return std::to_string(
          text::GetInt(job, {"status", "replicaStatuses", type, field}).value_or(0));
    };
    return "a" + count("active") + " s" + count("succeeded") + " f" + count("failed");
  }
  bool HasTime(std::string_view field) const {
    return !text::GetString(job, {"status", field}).empty();
  }
  std::vector<std::string> TakeEvents() { return std::exchange(events, {}); }

  static std::vector<std::string> Names(const Objects& objects) {
    std::vector<std::string> names;
    for (const auto& [name, object] : objects) names.push_back(name);
    return names;
  }
  std::string Uid(const std::string& pod) const {
    return std::string(text::GetString(pods.at(pod), {"metadata", "uid"}));
  }

  text::Json job;  // null once it is deleted
  Options options;
  base::Time now = TestTime();
  Objects pods, services, autoscalers, pod_groups;
  std::map<std::string, int32_t> priority_values;
  std::map<std::string, base::Time> lost_nodes;
  std::vector<Awaited> awaited;
  std::optional<int> master_port;
  std::set<size_t> announced;  // empty: the process has just started
  bool is_graceful = false;    // deletions of pods wait for FinishDeletions()
  std::vector<std::string> events;
  std::map<Counter, int> counters;

 private:
  void SetFinished(const std::string& pod) {
    for (text::Json& status :
         text::Ensure(pods.at(pod), {"status", "containerStatuses"}).as_array()) {
      text::Set(status, {"state", "terminated", "finishedAt"},
                text::Json(base::FormatRfc3339(now)));
    }
  }

  std::string JobName() const { return String(*text::Find(job, {"metadata"}), "name"); }

  static std::string String(const text::Json& value, std::string_view key) {
    return std::string(text::GetString(value, {key}));
  }

  void Record(const Event& event, const std::string& error = "") {
    events.push_back((event.is_warning ? "Warning " : "Normal ") + event.reason + ": " +
                     event.message + error);
  }

  bool Apply(const Write& write) {
    std::string error;
    if (write.resource == &api::kPyTorchJobs) {
      EXPECT_EQ(write.verb, Write::Verb::kDelete);
      job = nullptr;
    } else {
      error = Apply(write, ObjectsOf(*write.resource));
    }
    if (error.empty() && write.on_success) Record(*write.on_success);
    if (!error.empty() && write.on_failure) Record(*write.on_failure, error);
    return error.empty();
  }

  Objects& ObjectsOf(const api::Resource& resource) {
    if (&resource == &api::kPods) return pods;
    if (&resource == &api::kServices) return services;
    if (&resource == &api::kHorizontalPodAutoscalers) return autoscalers;
    return pod_groups;
  }

  std::string Apply(const Write& write, Objects& objects) {
    const auto found = objects.find(write.name);
    switch (write.verb) {
      case Write::Verb::kCreate: {
        if (found != objects.end()) return "pods \"" + write.name + "\" already exists";
        text::Json object = write.object;
        text::Set(object, {"metadata", "uid"}, text::Json("uid-" + std::to_string(++last_uid_)));
        text::Set(object, {"metadata", "creationTimestamp"}, text::Json(base::FormatRfc3339(now)));
        if (&objects == &pods) text::Set(object, {"status", "phase"}, text::Json("Pending"));
        objects.emplace(write.name, std::move(object));
        return "";
      }
      case Write::Verb::kUpdate:
        EXPECT_NE(found, objects.end());
        found->second = write.object;
        return "";
      case Write::Verb::kPatch:
        EXPECT_EQ(&objects, &pods) << "only pods are patched";
        EXPECT_NE(found, objects.end()) << write.name;
        if (found == objects.end()) return "not found";
        text::MergePatch(found->second, write.object);
        return "";
      case Write::Verb::kDelete:
        EXPECT_NE(found, objects.end()) << write.name;
        if (found == objects.end()) return "not found";
        EXPECT_EQ(write.uid, String(*text::Find(found->second, {"metadata"}), "uid"));
        if (&objects == &pods && is_graceful && !write.is_forced) {
          EXPECT_EQ(text::Find(found->second, {"metadata", "deletionTimestamp"}), nullptr);
          BeginDeletion(write.name);
        } else {
          objects.erase(found);
        }
        return "";
    }
    return "";
  }

  int last_uid_ = 0;
};

using Strings = std::vector<std::string>;

}  // namespace reconcile
