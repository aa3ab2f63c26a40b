#include "dashboard/machine.h"

#include <gtest/gtest.h>

namespace dashboard {
namespace {

text::Json Json(std::string_view text) { return *text::ParseJson(text); }

const char* const kNode = R"({"metadata":{"name":"n1"},"status":{
  "allocatable":{"cpu":"4","memory":"8Gi","nvidia.com/gpu":"2"},
  "conditions":[{"type":"Ready","status":"True"}]}})";

text::Json Pod(std::string_view name, std::string_view phase, std::string_view gpus) {
  text::Json pod = Json(R"({"metadata":{"namespace":"default",
    "labels":{"training.kubeflow.org/job-name":"base"}},
    "spec":{"nodeName":"n1","containers":[{"name":"pytorch","resources":{"limits":
      {"cpu":"500m","memory":"1Gi","nvidia.com/gpu":"1"}}}]},"status":{}})");
  text::Set(pod, {"metadata", "name"}, text::Json(name));
  text::Set(pod, {"metadata", "annotations"}, text::Object{{"muster.dev/gpus", gpus}});
  text::Set(pod, {"status", "phase"}, text::Json(phase));
  return pod;
}

TEST(MachineTest, WhoHoldsWhat) {
  const text::Json page =
      MachineDocument({Json(kNode)}, {Pod("a", "Running", "1"), Pod("b", "Succeeded", "0")}, {});
  const text::Json& node = page.as_object().at("nodes").as_array().at(0);
  EXPECT_EQ(text::GetInt(node, {"cpuMilli"}), 4000);
  EXPECT_EQ(text::GetInt(node, {"memoryBytes"}), int64_t{8} << 30);
  EXPECT_EQ(text::GetInt(node, {"requested", "cpuMilli"}), 500);
  EXPECT_EQ(text::GetInt(node, {"requested", "gpus"}), 1);
  const text::Array& devices = node.as_object().at("devices").as_array();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(text::GetString(devices[0], {"pod"}), "");
  EXPECT_EQ(text::GetString(devices[1], {"pod"}), "a");
  EXPECT_EQ(text::GetString(devices[1], {"job"}), "base");
  EXPECT_TRUE(devices[1].as_object().at("dutyCycle").is_null());
  EXPECT_EQ(node.as_object().at("pods").as_array().size(), 1u);
}

TEST(MachineTest, AMeasuredGpuSaysHowBusyItIs) {
  arena::GpuMetric metric;
  metric.id = "0";
  metric.node = "n1";
  metric.pod = "c";
  metric.duty_cycle = 93;
  const text::Json page = MachineDocument({Json(kNode)}, {}, {metric});
  const text::Json& device =
      page.as_object().at("nodes").as_array().at(0).as_object().at("devices").as_array().at(0);
  EXPECT_EQ(text::GetString(device, {"pod"}), "c");
  EXPECT_EQ(device.as_object().at("dutyCycle").as_double(), 93);
}

TEST(MachineTest, ANodeThatSaysLittleHasNothing) {
  const text::Json page = MachineDocument({Json(R"({"metadata":{"name":"n1"}})")}, {}, {});
  const text::Json& node = page.as_object().at("nodes").as_array().at(0);
  EXPECT_EQ(text::GetInt(node, {"cpuMilli"}), 0);
  EXPECT_FALSE(node.as_object().at("ready").as_bool());
}

}  // namespace
}  // namespace dashboard
