// Objects of a hostile client: any part of a job and of its pods is replaced by a value of another
// type. Reconciling them terminates, and so does the next reconciliation.
// (tests/fuzz/fuzz_reconcile.cc goes further.)
#include <gtest/gtest.h>

#include <random>

#include "controller/loop/projection.h"
#include "reconcile/reconcile.h"

namespace controller {
namespace {

constexpr int kHostileRounds = 4'000;

constexpr const char* kHostileJob = R"({
  "metadata": {"name": "j", "namespace": "n", "uid": "u", "annotations": {
    "muster.dev/restart-scope": "job", "muster.dev/restarts": "job=1",
    "muster.dev/master-port": "auto", "muster.dev/init-step": "port"}},
  "spec": {
    "nprocPerNode": "2",
    "elasticPolicy": {"minReplicas": 1, "maxReplicas": 3, "rdzvConf": [{"key": "a", "value": "b"}],
                      "metrics": [{"type": "Resource"}]},
    "runPolicy": {"backoffLimit": 2, "activeDeadlineSeconds": 9, "ttlSecondsAfterFinished": 1,
                  "cleanPodPolicy": "All", "suspend": false,
                  "schedulingPolicy": {"minAvailable": 1, "minResources": {"cpu": "1"}}},
    "pytorchReplicaSpecs": {
      "Master": {"replicas": 1, "restartPolicy": "ExitCode", "template": {"spec": {"containers": [
        {"name": "pytorch", "image": "i", "env": [{"name": "A", "value": "b"}],
         "ports": [{"name": "pytorchjob-port", "containerPort": 1}],
         "resources": {"requests": {"cpu": "1"}}}]}}},
      "Worker": {"replicas": 2, "restartPolicy": "OnFailure", "template": {
        "metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}},
        "spec": {"containers": [{"name": "pytorch", "image": "i"}], "initContainers": []}}}}},
  "status": {"conditions": [{"type": "Created", "status": "True", "reason": "r", "message": "m",
                             "lastUpdateTime": "2026-07-30T10:00:00Z"}],
             "startTime": "2026-07-30T10:00:00Z",
             "replicaStatuses": {"Worker": {"active": 1, "selector": "s"}}}})";

constexpr const char* kHostilePod = R"({
  "metadata": {"name": "j-worker-0", "namespace": "n", "uid": "p", "resourceVersion": "3",
    "labels": {"training.kubeflow.org/job-name": "j", "training.kubeflow.org/replica-type": "worker",
               "training.kubeflow.org/replica-index": "0"},
    "annotations": {"muster.dev/restarts": "1"},
    "ownerReferences": [{"kind": "PyTorchJob", "name": "j", "uid": "u", "controller": true}]},
  "spec": {"nodeName": "a"},
  "status": {"phase": "Failed", "reason": "Evicted", "message": "m", "startTime": "t",
    "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "x"}],
    "containerStatuses": [{"name": "pytorch", "restartCount": 1, "lastState": {},
      "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "signal": 9,
                               "finishedAt": "2026-07-30T10:00:00Z"}}}]}})";

class Spoiler {
 public:
  explicit Spoiler(unsigned seed) : random_(seed) {}

  // Replaces each part with a small probability.
  void Spoil(text::Json& value) {
    if (random_() % 40 == 0) {
      value = Odd();
      return;
    }
    if (value.is_object()) {
      for (auto& entry : value.get_object()) Spoil(entry.value());
    } else if (value.is_array()) {
      for (text::Json& item : value.get_array()) Spoil(item);
    }
  }

 private:
  text::Json Odd() {
    switch (random_() % 12) {
      case 0:
        return nullptr;
      case 1:
        return true;
      case 2:
        return -1;
      case 3:
        return INT64_MAX;
      case 4:
        return 1e300;
      case 5:
        return "";
      case 6:
        return text::Json(std::string(300, 'x'));
      case 7:
        return text::Array{};
      case 8:
        return text::Array{nullptr, 1, "a", text::Object{}};
      case 9:
        return text::Object{};
      case 10:
        return text::Object{{"name", 7}};
      default:
        return "9999-99-99T99:99:99Z";
    }
  }

  std::mt19937 random_;
};

TEST(HostileObjects, StopNoPass) {
  reconcile::Options options;
  options.reports_first_failure = true;
  const base::Time now = *base::ParseRfc3339("2026-07-30T10:00:05Z");
  for (int round = 0; round < kHostileRounds; ++round) {
    SCOPED_TRACE(round);
    options.gang_scheduler_name = round % 3 == 0 ? "volcano" : "";
    Spoiler spoiler(static_cast<unsigned>(round));
    text::Json job = *text::ParseJson(kHostileJob);
    text::Json pod = *text::ParseJson(kHostilePod);
    text::Json raw_pod = pod;
    spoiler.Spoil(job);
    spoiler.Spoil(pod);
    spoiler.Spoil(raw_pod);
    ProjectJob(job);
    ProjectPod(pod);
    reconcile::Observed observed;
    observed.job = &job;
    observed.pods = {&pod, &raw_pod};
    observed.services = {&raw_pod};
    const reconcile::Plan plan = reconcile::Reconcile(observed, options, now);
    for (const reconcile::Write& write : plan.writes) ASSERT_NE(write.resource, nullptr);
    if (!plan.status) continue;
    text::Json next = job;
    text::Set(next, {"status"}, *plan.status);
    observed.job = &next;
    reconcile::Reconcile(observed, options, now + std::chrono::hours(1));
  }
}

}  // namespace
}  // namespace controller
