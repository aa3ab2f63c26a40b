#include "api/kinds.h"

#include <gtest/gtest.h>

#include "api/names.h"
#include "api/testing/metadata.h"
#include "api/testing/parsed.h"

namespace api {
namespace {

TEST(Kinds, ReadsNodes) {
  const text::Json node = Parsed(R"({
    "metadata": {"labels": {"node-role.kubernetes.io/worker": "",
                            "node-role.kubernetes.io/control-plane": ""}},
    "spec": {"unschedulable": true},
    "status": {"conditions": [{"type": "Ready", "status": "True"}],
      "addresses": [{"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "i"}]}})");
  EXPECT_TRUE(IsNodeReady(node));
  EXPECT_TRUE(IsNodeUnschedulable(node));
  EXPECT_EQ(NodeAddress(node, "InternalIP"), "i");
  EXPECT_EQ(NodeAddress(node, "ExternalIP"), "");
  EXPECT_EQ(NodeRoles(node), "control-plane,worker");
  EXPECT_EQ(NodeRoles(text::Object()), "<none>");
}

TEST(Kinds, ReadsSecretsAndConfigMaps) {
  const text::Json secret = Parsed(
      R"({"metadata": {"name": "s"}, "data": {"a": "aGVsbG8=", "b": "%"}, "stringData": {"c": "p"}})");
  EXPECT_EQ(SecretValue(secret, "a").value(), "hello");
  EXPECT_EQ(SecretValue(secret, "c").value(), "p");
  EXPECT_EQ(SecretValue(secret, "b").error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(SecretValue(secret, "d").error().code, base::Code::kNotFound);
  EXPECT_EQ(SecretValue(secret, "d").error().message, "secret \"s\" has no key \"d\"");
  const text::Json map =
      Parsed(R"({"metadata": {"name": "m"}, "data": {"a": "x"}, "binaryData": {"b": "aGVsbG8="}})");
  EXPECT_EQ(ConfigMapValue(map, "a").value(), "x");
  EXPECT_EQ(ConfigMapValue(map, "b").value(), "hello");
}

TEST(Kinds, ReadsClaimsServicesAndTheRest) {
  const text::Json claim = Parsed(
      R"({"spec": {"accessModes": ["ReadWriteMany", "ReadWriteOnce"]}, "status": {"phase": "Bound"}})");
  EXPECT_EQ(AccessModes(claim), (std::vector<std::string>{"RWO", "RWX"}));
  const text::Json service =
      Parsed(R"({"spec": {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2,
                 "nodePort": 30000}]}})");
  EXPECT_EQ(ServicePort(service, "b"), 2);
  EXPECT_FALSE(ServicePort(service, "c"));
  EXPECT_EQ(PriorityValue(Parsed(R"({"value": 1000})")), 1000);
  EXPECT_TRUE(IsGlobalDefault(Parsed(R"({"globalDefault": true})")));
}

TEST(Kinds, ReadsEventsOfBothForms) {
  const text::Json old = Parsed(R"({"type": "Warning", "reason": "r", "message": "m", "count": 3,
    "source": {"component": "kubelet"}, "firstTimestamp": "2026-07-30T10:00:00Z",
    "lastTimestamp": "2026-07-30T10:01:00Z",
    "involvedObject": {"kind": "Pod", "namespace": "n", "name": "p", "uid": "u"}})");
  const EventView event = ReadEvent(old);
  EXPECT_TRUE(event.is_warning);
  EXPECT_EQ(event.reason, "r");
  EXPECT_EQ(event.component, "kubelet");
  EXPECT_EQ(event.count, 3);
  EXPECT_EQ(*event.last - *event.first, std::chrono::minutes(1));
  EXPECT_EQ(event.object_uid, "u");
  const text::Json recent = Parsed(R"({"type": "Normal", "reportingComponent": "scheduler",
    "eventTime": "2026-07-30T10:00:00.000001Z", "firstTimestamp": null,
    "series": {"count": 5, "lastObservedTime": "2026-07-30T10:05:00.000000Z"}})");
  const EventView view = ReadEvent(recent);
  EXPECT_FALSE(view.is_warning);
  EXPECT_EQ(view.component, "scheduler");
  EXPECT_EQ(view.count, 5);
  ASSERT_TRUE(view.first && view.last);
  EXPECT_LT(*view.first, *view.last);
}

TEST(Object, ReadsAndBuildsMetadata) {
  text::Json pod = text::Object();
  text::Set(pod, {"metadata"}, MakeMetadata("p", "n", {{"a", "b"}}));
  SetLabel(pod, "c", "d");
  SetAnnotation(pod, "e", "f");
  const text::Json job = Parsed(R"({"metadata": {"name": "j", "uid": "u"}})");
  text::Set(pod, {"metadata", "ownerReferences"},
            text::Array{MakeControllerReference(kPyTorchJobs, job)});
  EXPECT_EQ(text::ToJson(pod),
            R"({"metadata":{"name":"p","namespace":"n","labels":{"a":"b","c":"d"},)"
            R"("annotations":{"e":"f"},"ownerReferences":[{"apiVersion":"kubeflow.org/v1",)"
            R"("kind":"PyTorchJob","name":"j","uid":"u","controller":true,)"
            R"("blockOwnerDeletion":true}]}})");
  EXPECT_EQ(Name(pod), "p");
  EXPECT_EQ(Namespace(pod), "n");
  EXPECT_EQ(Label(pod, "c"), "d");
  EXPECT_EQ(Annotation(pod, "e"), "f");
  EXPECT_EQ(Labels(pod), (std::map<std::string, std::string>{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(ControllerUid(pod), "u");
  EXPECT_FALSE(IsDeleting(pod));
  EXPECT_FALSE(CreationTime(pod));
  EXPECT_FALSE(GetTime(Parsed(R"({"t": "noon"})"), {"t"}));
}

TEST(Object, AJobOfTheEmbeddedClusterKnowsTheFractionOfItsSecond) {
  const auto at = [](std::string_view exact) {
    text::Json job = Parsed(R"({"metadata": {"creationTimestamp": "2026-07-30T10:00:00Z"}})");
    text::Set(job, {"metadata", "annotations", kCreatedAnnotation}, text::Json(exact));
    return base::FormatRfc3339Micro(*CreationTime(job));
  };
  EXPECT_EQ(at("2026-07-30T10:00:00.750000Z"), "2026-07-30T10:00:00.750000Z");
  EXPECT_EQ(at("2026-07-30T09:59:59.750000Z"), "2026-07-30T10:00:00.000000Z") << "of another job";
  EXPECT_EQ(at("soon"), "2026-07-30T10:00:00.000000Z");
}

}  // namespace
}  // namespace api
