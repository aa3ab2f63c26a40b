#include "api/pod.h"

#include <gtest/gtest.h>

#include "api/job/replica.h"
#include "api/job/training_summary.h"
#include "api/testing/parsed.h"

namespace api {
namespace {

TEST(Pod, ReadsConditionsAndStatuses) {
  const text::Json pod = Parsed(R"({
    "metadata": {"name": "p", "ownerReferences": [
      {"uid": "other"}, {"uid": "job", "controller": true}]},
    "spec": {"nodeName": "n", "priorityClassName": "high", "restartPolicy": "Never"},
    "status": {"phase": "Failed", "conditions": [{"type": "Ready", "status": "True"}],
      "initContainerStatuses": [{"name": "i", "restartCount": 2}],
      "containerStatuses": [
        {"name": "side", "restartCount": 1, "ready": true, "started": true,
         "state": {"running": {"startedAt": "2026-07-30T10:00:00Z"}}},
        {"name": "pytorch", "state": {"terminated": {"exitCode": 137, "signal": 9,
          "reason": "OOMKilled", "message": "m", "finishedAt": "2026-07-30T10:00:05Z"}},
         "lastState": {"terminated": {"exitCode": 1}}}]}})");
  EXPECT_EQ(Phase(pod), "Failed");
  EXPECT_TRUE(IsPodFinished(pod));
  EXPECT_TRUE(IsPodReady(pod));
  EXPECT_EQ(NodeName(pod), "n");
  EXPECT_EQ(PriorityClass(pod), "high");
  EXPECT_EQ(PodRestartPolicy(pod), "Never");
  EXPECT_EQ(ControllerUid(pod), "job");
  EXPECT_EQ(ExitCodeOf(pod, "pytorch"), 137);
  EXPECT_FALSE(ExitCodeOf(pod, "side"));
  EXPECT_FALSE(ExitCodeOf(pod, "absent"));
  EXPECT_EQ(RestartCount(pod), 3);
  const auto statuses = ContainerStatuses(pod);
  ASSERT_EQ(statuses.size(), 2U);
  EXPECT_TRUE(statuses[0].is_running && statuses[0].is_ready && statuses[0].has_started);
  EXPECT_TRUE(statuses[0].running_since);
  ASSERT_TRUE(statuses[1].terminated);
  EXPECT_EQ(statuses[1].terminated->signal, 9);
  EXPECT_EQ(statuses[1].terminated->reason, "OOMKilled");
  ASSERT_TRUE(statuses[1].last_terminated);
  EXPECT_EQ(statuses[1].last_terminated->exit_code, 1);
}

TEST(Pod, AnEmptyPodIsPending) {
  const text::Json pod = text::Object();
  EXPECT_EQ(Phase(pod), "Pending");
  EXPECT_FALSE(IsPodFinished(pod));
  EXPECT_FALSE(IsPodReady(pod));
  EXPECT_EQ(ControllerUid(pod), "");
  EXPECT_EQ(PodRestartPolicy(pod), "Always");
  EXPECT_EQ(PodRequest(pod), ResourceRequest());
}

ResourceRequest RequestOf(std::string_view spec) {
  text::Json pod = text::Object();
  text::Set(pod, {"spec"}, Parsed(spec));
  return PodRequest(pod);
}

TEST(PodRequest, SumsContainersAndFallsBackToLimits) {
  const ResourceRequest request = RequestOf(R"({"containers": [
    {"resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "4", "memory": "2Gi"},
                   "requests": {"cpu": "500m"}}},
    {"resources": {"requests": {"cpu": 1, "memory": "1Ki", "a.b/card": 2,
                                "ephemeral-storage": "1Gi"}}},
    {}]})");
  EXPECT_EQ(request.gpus, 8);
  EXPECT_EQ(request.cpu_milli, 1500);
  EXPECT_EQ(request.memory_bytes, (int64_t{2} << 30) + 1024);
  EXPECT_EQ(request.devices, (std::map<std::string, int64_t>{{"a.b/card", 2}}));
}

TEST(PodRequest, GpusAreOneThingWhoeverMakesThem) {
  const ResourceRequest request = RequestOf(R"({"containers": [
    {"resources": {"limits": {"amd.com/gpu": 4}, "requests": {"amd.com/gpu": 4}}},
    {"resources": {"limits": {"nvidia.com/gpu": "1"}}}]})");
  EXPECT_EQ(request.gpus, 5);
  EXPECT_TRUE(request.devices.empty());
}

TEST(PodRequest, IsNoLessThanAnInitContainerNeeds) {
  const ResourceRequest request = RequestOf(R"({
    "initContainers": [
      {"restartPolicy": "Always", "resources": {"requests": {"cpu": "100m", "memory": "10"}}},
      {"resources": {"requests": {"cpu": "3", "memory": "5"}}},
      {"resources": {"requests": {"cpu": "2"}}}],
    "containers": [{"resources": {"requests": {"cpu": "1", "memory": "100"}}}],
    "overhead": {"memory": "7"}})");
  EXPECT_EQ(request.cpu_milli, 3100);
  EXPECT_EQ(request.memory_bytes, 117);
}

TEST(PodRequest, WorksOnATemplateAndIgnoresNonsense) {
  EXPECT_EQ(RequestOf(R"({"containers": [{"resources": {"requests": {"cpu": "lots",
    "memory": "-5", "nvidia.com/gpu": true}}}]})"),
            ResourceRequest());
}

TEST(PodRequest, AddsUp) {
  ResourceRequest total{1, 100, 10, {{"a/b", 1}}};
  total += {2, 50, 5, {{"a/b", 1}, {"c/d", 3}}};
  EXPECT_EQ(total, (ResourceRequest{3, 150, 15, {{"a/b", 2}, {"c/d", 3}}}));
}

TEST(Replica, ReadsLabelsOfBothOperators) {
  text::Json pod = text::Object();
  SetLabel(pod, "training.kubeflow.org/replica-type", "worker");
  SetLabel(pod, "training.kubeflow.org/replica-index", "2");
  EXPECT_FALSE(IsMasterPod(pod));
  EXPECT_EQ(NodeRank(pod, true), 3);
  EXPECT_EQ(NodeRank(pod, false), 2);
  text::Json old = text::Object();
  SetLabel(old, "pytorch-replica-type", "master");
  EXPECT_TRUE(IsMasterPod(old));
  EXPECT_EQ(NodeRank(old, true), 0);
  SetLabel(old, "pytorch-replica-index", "x");
  EXPECT_EQ(ReplicaIndex(old), 0);
}

struct StatusCase {
  std::string_view what;
  std::string_view pod;
  std::string_view text;
};

// clang-format off
constexpr StatusCase kStatusCases[] = {
    {"nothing", R"({})", "Pending"},
    {"phase", R"({"status":{"phase":"Running"}})", "Running"},
    {"evicted", R"({"status":{"phase":"Failed","reason":"Evicted"}})", "Evicted"},
    {"gated", R"({"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}})", "SchedulingGated"},
    {"unschedulable", R"({"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}})", "Pending"},
    {"creating", R"({"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ContainerCreating"}}}]}})", "ContainerCreating"},
    {"init running", R"({"spec":{"initContainers":[{"name":"a"},{"name":"b"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0}}},{"name":"b","state":{"running":{}}}],"containerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}]}})", "Init:1/2"},
    {"init waiting", R"({"spec":{"initContainers":[{"name":"a"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"a","state":{"waiting":{"reason":"PodInitializing"}}}]}})", "Init:0/1"},
    {"init image", R"({"spec":{"initContainers":[{"name":"a"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"a","state":{"waiting":{"reason":"ImagePullBackOff"}}}]}})", "Init:ImagePullBackOff"},
    {"init crash loop", R"({"spec":{"initContainers":[{"name":"a"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"a","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})", "Init:CrashLoopBackOff"},
    {"init error", R"({"spec":{"initContainers":[{"name":"a"}]},"status":{"phase":"Failed","initContainerStatuses":[{"name":"a","state":{"terminated":{"exitCode":128,"reason":"Error"}}}],"containerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}]}})", "Init:Error"},
    {"init exit code", R"({"spec":{"initContainers":[{"name":"a"}]},"status":{"initContainerStatuses":[{"name":"a","state":{"terminated":{"exitCode":3}}}]}})", "Init:ExitCode:3"},
    {"init signal", R"({"spec":{"initContainers":[{"name":"a"}]},"status":{"initContainerStatuses":[{"name":"a","state":{"terminated":{"exitCode":137,"signal":9}}}]}})", "Init:Signal:9"},
    {"init done", R"({"spec":{"initContainers":[{"name":"a"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}],"containerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}]}})", "PodInitializing"},
    {"sidecar", R"({"spec":{"initContainers":[{"name":"a","restartPolicy":"Always"}]},"status":{"phase":"Running","initContainerStatuses":[{"name":"a","started":true,"state":{"running":{}}}],"containerStatuses":[{"ready":true,"state":{"running":{}}}]}})", "Running"},
    {"restarted init of an initialized pod", R"({"spec":{"initContainers":[{"name":"a"}]},"status":{"phase":"Running","conditions":[{"type":"Initialized","status":"True"}],"initContainerStatuses":[{"name":"a","state":{"running":{}}}],"containerStatuses":[{"ready":true,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})", "CrashLoopBackOff"},
    {"completed", R"({"status":{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}})", "Completed"},
    {"error", R"({"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}})", "Error"},
    {"out of memory", R"({"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]}})", "OOMKilled"},
    {"exit code", R"({"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":7}}}]}})", "ExitCode:7"},
    {"signal", R"({"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":139,"signal":11}}}]}})", "Signal:11"},
    {"first container wins", R"({"status":{"phase":"Running","containerStatuses":[{"state":{"terminated":{"exitCode":1,"reason":"Error"}}},{"state":{"waiting":{"reason":"ErrImagePull"}}}]}})", "Error"},
    {"one done, one ready", R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"ready":true,"state":{"running":{}}}]}})", "Running"},
    {"one done, pod not ready", R"({"status":{"phase":"Running","containerStatuses":[{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"ready":true,"state":{"running":{}}}]}})", "NotReady"},
    {"terminating", R"({"metadata":{"deletionTimestamp":"2026-07-30T10:00:00Z"},"status":{"phase":"Running"}})", "Terminating"},
    {"terminating, node lost", R"({"metadata":{"deletionTimestamp":"2026-07-30T10:00:00Z"},"status":{"phase":"Running","reason":"NodeLost"}})", "Unknown"},
    {"deleted after its end", R"({"metadata":{"deletionTimestamp":"2026-07-30T10:00:00Z"},"status":{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}})", "Completed"},
};
// clang-format on

TEST(PodStatusText, IsKubectlsColumn) {
  for (const StatusCase& entry : kStatusCases) {
    EXPECT_EQ(PodStatusText(Parsed(entry.pod)), entry.text) << entry.what;
    // The fields that a list reads are enough.
    const auto part = text::ParsePart(entry.pod, SummarizedParts());
    EXPECT_EQ(part ? PodStatusText(*part) : part.error().message, entry.text) << entry.what;
  }
}

TEST(TrimFinishedPod, LeavesWhoItWasAndThatItEnded) {
  text::Json pod = Parsed(R"({"metadata": {"name": "a", "uid": "u", "annotations": {"k": "v"}},
      "spec": {"nodeName": "n"}, "status": {"phase": "Failed", "startTime": "t", "reason": "r"}})");
  TrimFinishedPod(pod);
  EXPECT_EQ(pod, Parsed(R"({"metadata": {"name": "a", "uid": "u"},
      "status": {"phase": "Failed", "startTime": "t"}})"));
}

TEST(TrimFinishedPod, LeavesARunningPodWhole) {
  text::Json pod = Parsed(R"({"spec": {"nodeName": "n"}, "status": {"phase": "Running"}})");
  const text::Json whole = pod;
  TrimFinishedPod(pod);
  EXPECT_EQ(pod, whole);
}

TEST(ReadUnfinishedPod, SaysTheSameAsReadingAndTrimming) {
  for (const char* text : {
           R"({"kind": "Pod", "metadata": {"name": "a", "uid": "u", "labels": {"l": "1"},
               "annotations": {"k": "v"}}, "spec": {"nodeName": "n"},
               "status": {"phase": "Succeeded", "startTime": "t", "reason": "r"}})",
           R"({"metadata": {"name": "a", "annotations": {"k": "v"}}, "spec": {"nodeName": "n"},
               "status": {"phase": "Running", "reason": "r"}})",
           R"({"metadata": {"name": "new"}})"}) {
    text::Json trimmed = Parsed(text);
    TrimFinishedPod(trimmed);
    const auto read = ReadUnfinishedPod(text::Document(text));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, trimmed);
  }
  EXPECT_FALSE(ReadUnfinishedPod(text::Document(R"({"status": )")));
}

}  // namespace
}  // namespace api
