#include "controller/loop/projection.h"

#include <gtest/gtest.h>

#include "controller/loop/object_packing.h"

namespace controller {
namespace {

text::Json Parse(std::string_view text) {
  auto parsed = text::ParseJson(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : text::Json();
}

TEST(Projection, KeepsOfAPodWhatTheReconcilerReads) {
  text::Json pod = Parse(R"({"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "j-worker-0", "namespace": "n", "uid": "u", "resourceVersion": "7",
      "creationTimestamp": "2026-07-30T10:00:00Z", "managedFields": [{"manager": "m"}],
      "annotations": {"note": "long", "muster.dev/master-port": "4000"},
      "labels": {"app": "x", "training.kubeflow.org/job-name": "j",
                 "training.kubeflow.org/replica-index": "0"},
      "ownerReferences": [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "j",
                           "uid": "job", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"nodeName": "a", "containers": [{"name": "pytorch", "image": "i", "env": []}]},
    "status": {"phase": "Running", "podIP": "10.0.0.1",
      "conditions": [{"type": "Ready", "status": "True"}],
      "containerStatuses": [{"name": "pytorch", "image": "i", "restartCount": 2, "lastState": {},
                             "state": {"running": {"startedAt": "2026-07-30T10:00:01Z"}}}]}})");
  ProjectPod(pod);
  EXPECT_EQ(pod, Parse(R"({
    "metadata": {"name": "j-worker-0", "namespace": "n", "uid": "u", "resourceVersion": "7",
      "creationTimestamp": "2026-07-30T10:00:00Z",
      "labels": {"training.kubeflow.org/job-name": "j", "training.kubeflow.org/replica-index": "0"},
      "annotations": {"muster.dev/master-port": "4000"},
      "ownerReferences": [{"uid": "job", "controller": true}]},
    "spec": {"nodeName": "a"},
    "status": {"phase": "Running",
      "containerStatuses": [{"name": "pytorch", "restartCount": 2,
                             "state": {"running": {"startedAt": "2026-07-30T10:00:01Z"}}}]}})"));
}

TEST(Projection, APartOfTheTextIsEnoughForIt) {
  constexpr const char* kWhole = R"({"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "j-worker-0", "namespace": "n", "uid": "u", "resourceVersion": "7",
      "generateName": "x", "generation": 3, "finalizers": ["f"],
      "creationTimestamp": "2026-07-30T10:00:00Z", "managedFields": [{"manager": "m"}],
      "deletionTimestamp": "2026-07-30T10:00:09Z", "deletionGracePeriodSeconds": 30,
      "annotations": {"note": "long", "muster.dev/master-port": "4000", "muster.dev/restarts": "1"},
      "labels": {"app": "x", "training.kubeflow.org/job-name": "j",
                 "training.kubeflow.org/operator-name": "pytorchjob-controller",
                 "training.kubeflow.org/replica-type": "worker",
                 "training.kubeflow.org/replica-index": "0"},
      "ownerReferences": [{"kind": "Other", "uid": "o"},
                          {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "j",
                           "uid": "job", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"nodeName": "a", "containers": [{"name": "pytorch", "image": "i", "env": []}]},
    "status": {"phase": "Failed", "podIP": "10.0.0.1", "reason": "Evicted", "message": "m",
      "startTime": "2026-07-30T10:00:01Z",
      "conditions": [{"type": "Ready", "status": "False", "reason": "r", "message": "m",
                      "lastTransitionTime": "2026-07-30T10:00:02Z"}],
      "initContainerStatuses": [{"name": "i", "restartCount": 1, "state": {"waiting": {}}}],
      "containerStatuses": [{"name": "pytorch", "image": "i", "restartCount": 2, "ready": false,
                             "lastState": {"terminated": {"exitCode": 1}},
                             "state": {"waiting": {"reason": "w", "message": "m"}}}]}})";
  for (const auto& [read, project] :
       {std::pair{&ReadPod, &ProjectPod}, std::pair{&ReadService, &ProjectService}}) {
    auto part = read(text::Document(kWhole));
    ASSERT_TRUE(part) << part.error().message;
    EXPECT_EQ(text::GetString(*part, {"kind"}), "Pod");
    EXPECT_EQ(text::Find(*part, {"metadata", "managedFields"}), nullptr);
    project(*part);
    text::Json whole = Parse(kWhole);
    project(whole);
    EXPECT_EQ(*part, whole);
  }
}

TEST(Projection, ADisruptionIsKeptOfARunningPod) {
  text::Json pod = *text::ParseJson(R"({"metadata": {"name": "p", "annotations":
      {"muster.dev/run": "2026-07-30T10:00:00Z", "x": "y"}}, "status": {"phase": "Running",
      "conditions": [{"type": "Ready", "status": "True"},
                     {"type": "DisruptionTarget", "status": "True", "reason": "r"}],
      "containerStatuses": [{"name": "pytorch", "state": {"running": {}}}]}})");
  ProjectPod(pod);
  EXPECT_EQ(text::ToJson(*text::Find(pod, {"status", "conditions"})),
            R"([{"type":"DisruptionTarget","status":"True","reason":"r"}])");
  EXPECT_EQ(text::ToJson(*text::Find(pod, {"metadata", "annotations"})),
            R"({"muster.dev/run":"2026-07-30T10:00:00Z"})");
}

TEST(Projection, ConditionsSpeakForAPodWithoutContainers) {
  text::Json pod = Parse(R"({"metadata": {"name": "p"}, "status": {"phase": "Pending",
    "containerStatuses": [], "conditions": [{"type": "PodScheduled", "status": "False"}]}})");
  ProjectPod(pod);
  EXPECT_EQ(pod, Parse(R"({"metadata": {"name": "p"}, "status": {"phase": "Pending",
    "conditions": [{"type": "PodScheduled", "status": "False"}]}})"));
}

TEST(Projection, TakesWhatIsOfTheWrongShape) {
  for (const char* const text : {"null", "[]", "7", R"({"metadata": [], "spec": "x", "status": 3})",
                                 R"({"metadata": {"labels": 1, "ownerReferences": {}},
            "status": {"containerStatuses": [1, null, {"state": 5}], "conditions": "no"}})"}) {
    text::Json object = Parse(text);
    ProjectPod(object);
    EXPECT_TRUE(object.is_object()) << text;
    object = Parse(text);
    ProjectService(object);
    object = Parse(text);
    ProjectJob(object);
    object = Parse(text);
    ProjectFiled(object);
    object = Parse(text);
    PackJob(object);
    object = Parse(text);
    ProjectPodGroup(object);
    EXPECT_TRUE(object.is_null()) << text;
  }
}

TEST(Projection, APackedJobIsItsIdentityAndItsText) {
  const char* const kJob = R"({"kind": "PyTorchJob", "#packed": "{}", "metadata": {"name": "j",
    "namespace": "n", "uid": "u", "resourceVersion": "7", "managedFields": [1], "labels": {"a": "b"}},
    "spec": {"n": 1.5, "big": 9223372036854775807}})";
  text::Json job = Parse(kJob);
  PackJob(job);
  EXPECT_EQ(text::GetString(job, {"metadata", "resourceVersion"}), "7");
  EXPECT_EQ(text::Find(job, {"spec"}), nullptr);
  text::Json plain = Parse(kJob);
  ProjectJob(plain);
  EXPECT_EQ(Parse(ObjectPacking().Unpack(PackedTextOfJob(job))), plain);
  EXPECT_EQ(text::Find(plain, {"#packed"}), nullptr);
  EXPECT_EQ(Parse(ObjectPacking().Unpack(PackedTextOfJob(plain))), plain);
}

TEST(Projection, AFiledChildKeepsWhatIsReadOfIt) {
  const auto child = [](const char* labels, const char* more) {
    return Parse(std::string(R"({"metadata": {"name": "p", "namespace": "n", "uid": "u",
      "resourceVersion": "7", "creationTimestamp": "t", "deletionTimestamp": "d", "labels": {)") +
                 labels + "}}" + more + "}");
  };
  const char* const kLabels = R"("training.kubeflow.org/job-name": "j",
    "training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "1")";
  text::Json pod = child(kLabels, R"(, "spec": {"nodeName": "x"}, "status": {"phase": "Running"})");
  ProjectFiled(pod);
  EXPECT_EQ(pod, Parse(R"({"metadata": {"name": "p", "uid": "u", "resourceVersion": "7",
    "creationTimestamp": "t", "deletionTimestamp": "d", "labels": {
    "training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "1"}},
    "spec": {"nodeName": "x"}, "status": {"phase": "Running"}})"));
  text::Json service = child(kLabels, "");
  ProjectFiled(service);
  EXPECT_EQ(text::Find(service, {"metadata", "creationTimestamp"}), nullptr);
  EXPECT_EQ(text::GetString(service, {"metadata", "deletionTimestamp"}), "d");
}

TEST(Projection, KeepsOnlyPodGroupsOfJobs) {
  text::Json group = Parse(R"({"metadata": {"name": "j", "managedFields": [],
    "ownerReferences": [{"kind": "PyTorchJob", "name": "j", "uid": "u", "controller": true}]},
    "spec": {"minMember": 3, "theirs": 1}})");
  ProjectPodGroup(group);
  EXPECT_EQ(text::GetInt(group, {"spec", "theirs"}), 1);
  EXPECT_EQ(text::Find(group, {"metadata", "managedFields"}), nullptr);
  group = Parse(R"({"metadata": {"ownerReferences":
    [{"kind": "Job", "name": "j", "uid": "u", "controller": true}]}})");
  ProjectPodGroup(group);
  EXPECT_TRUE(group.is_null());
}

}  // namespace
}  // namespace controller
