#include "api/schema/type_fault.h"

#include <gtest/gtest.h>

#include "api/resources.h"

namespace api {
namespace {

std::string FaultOf(const Resource& resource, const char* json) {
  return TypeFault(*text::ParseJson(json), ShapeOf(resource));
}

// tests/integration/test_same_api.py compares the words with those of a real API server.
TEST(TypeFault, NamesTheFieldAndBothTypes) {
  const std::string json = "json: cannot unmarshal ";
  EXPECT_EQ(FaultOf(kConfigMaps, R"({"data": {"a": 1}})"),
            json + "number into Go struct field ConfigMap.data of type string");
  EXPECT_EQ(FaultOf(kConfigMaps, R"({"data": []})"),
            json + "array into Go struct field ConfigMap.data of type map[string]string");
  EXPECT_EQ(FaultOf(kConfigMaps, R"({"metadata": {"labels": {"a": true}}})"),
            json + "bool into Go struct field ObjectMeta.metadata.labels of type string");
  EXPECT_EQ(
      FaultOf(kPods, R"({"spec": {"containers": [{"command": "sh"}]}})"),
      json + "string into Go struct field Container.spec.containers.command of type []string");
  EXPECT_EQ(FaultOf(kPods, R"({"spec": {"containers": [{"ports": [{"containerPort": "a"}]}]}})"),
            json +
                "string into Go struct field ContainerPort.spec.containers.ports.containerPort "
                "of type int32");
  EXPECT_EQ(FaultOf(kPods, R"({"spec": {"containers": [{"ports": [{"containerPort": 1.5}]}]}})"),
            json +
                "number 1.5 into Go struct field ContainerPort.spec.containers.ports."
                "containerPort of type int32");
}

TEST(TypeFault, TextsHaveTheFormOfTheirField) {
  EXPECT_EQ(FaultOf(kSecrets, R"({"data": {"a": "YQ=="}})"), "");
  EXPECT_EQ(FaultOf(kSecrets, R"({"data": {"a": "Y\nQ==\r\n"}})"), "");
  EXPECT_EQ(FaultOf(kSecrets, R"({"data": {"a": "!!"}})"), "illegal base64 data");
  EXPECT_EQ(FaultOf(kPods, R"({"metadata": {"creationTimestamp": "2026-07-30T10:00:00.5Z"}})"), "");
  EXPECT_NE(FaultOf(kPods, R"({"metadata": {"creationTimestamp": "yesterday"}})"), "");
  EXPECT_NE(
      FaultOf(kPods, R"({"spec": {"containers": [{"resources": {"limits": {"cpu": "x"}}}]}})"), "");
}

TEST(TypeFault, NullsAndUnknownFieldsAreLeftAlone) {
  EXPECT_EQ(FaultOf(kPods, R"({"metadata": {"creationTimestamp": null}, "spec": {"tomorrow": 1,
      "containers": [{"resources": {"limits": {"cpu": 1, "memory": "1.5Gi"}},
                      "readinessProbe": {"httpGet": {"port": "web"}}, "env": null}]}})"),
            "");
}

}  // namespace
}  // namespace api
