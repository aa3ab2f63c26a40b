#include "local/server/kinds/container_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace local::server {
namespace {

// What is refused of a container with those fields; "containers[0]" stands for its field.
Causes CausesOf(std::string_view fields) {
  text::Json container = *text::ParseJson(fields);
  text::Set(container, {"name"}, "a");
  text::Set(container, {"image"}, "i");
  text::Json pod = text::Object();
  text::Set(pod, {"spec", "containers"}, text::Array{std::move(container)});
  kPodRules.set_defaults(pod);
  Causes causes;
  CheckContainers(pod, "containers", causes);
  for (std::string& cause : causes) {
    EXPECT_TRUE(cause.starts_with("spec.containers[0].")) << cause;
    cause = cause.substr(std::string_view("spec.containers[0].").size());
  }
  return causes;
}

Causes CausesOfPort(std::string_view port) {
  return CausesOf(R"({"ports": [)" + std::string(port) + "]}");
}

// tests/integration/test_same_api.py compares the words with those of a real API server.
TEST(ContainerRules, APortHasANumberOf16Bits) {
  for (const char* const number : {"1", "65535"}) {
    EXPECT_EQ(CausesOfPort(R"({"containerPort": )" + std::string(number) + "}"), Causes{});
  }
  EXPECT_EQ(CausesOfPort("{}"), Causes{"ports[0].containerPort: Required value"});
  EXPECT_EQ(CausesOfPort(R"({"containerPort": 65536})"),
            Causes{"ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, "
                   "inclusive"});
  EXPECT_EQ(CausesOfPort(R"({"containerPort": 80, "hostPort": -1})"),
            Causes{"ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive"});
}

TEST(ContainerRules, APortHasAShortNameOfItsOwn) {
  const auto causes_of = [](const std::string& name) {
    return CausesOfPort(R"({"containerPort": 80, "name": ")" + name + R"("})");
  };
  for (const char* const name : {"", "a", "8080-a", "pytorchjob-port"}) {
    EXPECT_EQ(causes_of(name), Causes{}) << name;
  }
  EXPECT_EQ(causes_of("pytorchjob-ports"),
            Causes{"ports[0].name: Invalid value: \"pytorchjob-ports\": must be no more than 15 "
                   "characters"});
  EXPECT_EQ(causes_of("A").size(), 2U) << "neither its characters nor a letter";
  EXPECT_EQ(causes_of("a--b-").size(), 2U);
  EXPECT_EQ(
      CausesOfPort(R"({"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"})"),
      Causes{"ports[1].name: Duplicate value: \"a\""});
}

TEST(ContainerRules, VariablesHaveANameAndOneSource) {
  const auto causes_of = [](const std::string& variable) {
    return CausesOf(R"({"env": [)" + variable + "]}");
  };
  EXPECT_EQ(causes_of(R"({"name": "A"}, {"name": "A", "value": "1"})"), Causes{});
  EXPECT_EQ(causes_of(R"({"name": "A", "valueFrom": {"secretKeyRef": null,
                         "fieldRef": {"fieldPath": "metadata.name"}}})"),
            Causes{});
  EXPECT_EQ(causes_of(R"({"value": "1"})"), Causes{"env[0].name: Required value"});
  EXPECT_EQ(causes_of(R"({"name": "A", "valueFrom": {}})"),
            Causes{"env[0].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, "
                   "`resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"});
  EXPECT_EQ(causes_of(R"({"name": "A", "valueFrom": {"secretKeyRef": {"name": "s"}}})"),
            Causes{"env[0].valueFrom.secretKeyRef.key: Required value"});
}

TEST(ContainerRules, MountsNameAVolumeOfThePod) {
  EXPECT_EQ(CausesOf(R"({"volumeMounts": [{"name": "v", "mountPath": "/v"}]})"),
            Causes{"volumeMounts[0].name: Not found: \"v\""});
}

TEST(ContainerRules, VolumesHaveOneNameAndOneType) {
  const auto causes_of = [](const char* volumes) {
    Causes causes;
    CheckVolumes(text::Object{{"spec", text::Object{{"volumes", *text::ParseJson(volumes)}}}},
                 causes);
    return causes;
  };
  EXPECT_EQ(causes_of(R"([{"name": "a"}, {"name": "b", "emptyDir": {}}])"), Causes{});
  EXPECT_EQ(causes_of(R"([{"name": "a"}, {"name": "a"}])"),
            Causes{"spec.volumes[1].name: Duplicate value: \"a\""});
  EXPECT_EQ(causes_of(R"([{"name": "a", "emptyDir": {}, "hostPath": {"path": "/"}}])"),
            Causes{"spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"});
  EXPECT_EQ(causes_of(R"([{"name": "a", "persistentVolumeClaim": {}}])"),
            Causes{"spec.volumes[0].persistentVolumeClaim.claimName: Required value"});
}

TEST(ContainerRules, APullPolicyIsOneOfThree) {
  EXPECT_EQ(CausesOf(R"({"imagePullPolicy": "Never"})"), Causes{});
  EXPECT_EQ(CausesOf(R"({"imagePullPolicy": "Sometimes"})"),
            Causes{"imagePullPolicy: Unsupported value: \"Sometimes\": supported values: "
                   "\"Always\", \"IfNotPresent\", \"Never\""});
}

TEST(ContainerRules, AMessagePolicyIsOneOfTwo) {
  EXPECT_EQ(CausesOf(R"({"terminationMessagePolicy": "FallbackToLogsOnError"})"), Causes{});
  EXPECT_EQ(CausesOf(R"({"terminationMessagePolicy": "file"})"),
            Causes{"terminationMessagePolicy: Unsupported value: \"file\": supported values: "
                   "\"File\", \"FallbackToLogsOnError\""});
}

TEST(ContainerRules, RequestsAreWithinTheLimitsAndGpusAreWhole) {
  const auto causes_of = [](const std::string& resources) {
    return CausesOf(R"({"resources": )" + resources + "}");
  };
  for (const char* const fine : {"{}", R"({"requests": {"cpu": "0.5"}, "limits": {"cpu": "500m"}})",
                                 R"({"requests": {"cpu": 4}})",
                                 R"({"limits": {"nvidia.com/gpu": "2000m", "memory": "1.5Gi"}})",
                                 R"({"limits": {"nvidia.com/gpu": 0}})"}) {
    EXPECT_EQ(causes_of(fine), Causes{}) << fine;
  }
  EXPECT_EQ(causes_of(R"({"requests": {"cpu": 2}, "limits": {"cpu": "1500m"}})"),
            Causes{"resources.requests: Invalid value: \"2\": must be less than or equal to cpu "
                   "limit of 1500m"});
  EXPECT_EQ(causes_of(R"({"requests": {"amd.com/gpu": 1}, "limits": {"amd.com/gpu": 2}})"),
            Causes{"resources.requests: Invalid value: \"1\": must be equal to amd.com/gpu limit "
                   "of 2"});
  EXPECT_EQ(causes_of(R"({"requests": {"amd.com/gpu": 1}})"),
            Causes{"resources.limits: Required value: Limit must be set for non overcommitable "
                   "resources"});
  EXPECT_EQ(causes_of(R"({"limits": {"nvidia.com/gpu": "0.5"}})"),
            (Causes{"resources.limits[nvidia.com/gpu]: Invalid value: \"0.5\": must be an integer",
                    "resources.requests[nvidia.com/gpu]: Invalid value: \"0.5\": must be an "
                    "integer"}));
  EXPECT_EQ(causes_of(R"({"requests": {"cpu": "-1"}})"),
            Causes{"resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal "
                   "to 0"});
  EXPECT_EQ(causes_of(R"({"requests": {"gpu": 1}})").size(), 2U) << "of nobody";
}

}  // namespace
}  // namespace local::server
