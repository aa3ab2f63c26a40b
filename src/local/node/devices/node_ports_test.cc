#include "local/node/devices/node_ports.h"

#include <gtest/gtest.h>

namespace local::node {
namespace {

text::Json Json(std::string_view text) { return *text::ParseJson(text); }

text::Json Service(std::string_view type, std::string_view ports) {
  text::Json service = Json(R"({"metadata": {"name": "web", "namespace": "ns"},
                                "spec": {"selector": {"app": "web", "role": "x"}}})");
  text::Set(service, {"spec", "type"}, text::Json(type));
  text::Set(service, {"spec", "ports"}, Json(ports));
  return service;
}

const text::Json& Pod() {
  static const text::Json pod = Json(R"({
    "metadata": {"name": "p", "labels": {"app": "web", "role": "x", "more": "y"}},
    "spec": {"containers": [{"ports": [{"name": "http", "containerPort": 80}]}]}})");
  return pod;
}

using Ports = std::map<int, NodePort>;

TEST(NodePorts, AreThoseOfTheTypesThatHaveThem) {
  const char* const ports = R"([{"port": 6006, "nodePort": 30001}, {"port": 80}])";
  EXPECT_EQ(NodePortsOf(Service("NodePort", ports)),
            (std::vector<NodePort>{{"service/ns/web/6006", 30001}, {"service/ns/web/80", 0}}));
  EXPECT_EQ(NodePortsOf(Service("LoadBalancer", ports)).size(), 2u);
  EXPECT_TRUE(NodePortsOf(Service("ClusterIP", ports)).empty());
}

TEST(NodePorts, LeadToThePortsOfAPod) {
  EXPECT_EQ(NodePortsOfPod(Pod(), {Service("NodePort", R"([{"port": 6006, "nodePort": 30001}])")}),
            (Ports{{6006, {"service/ns/web/6006", 30001}}}));
  EXPECT_EQ(NodePortsOfPod(Pod(), {Service("NodePort", R"([
              {"port": 1, "targetPort": "http", "nodePort": 30002},
              {"port": 2, "targetPort": 8080, "nodePort": 30003},
              {"port": 3, "targetPort": "unknown", "nodePort": 30004},
              {"port": 4}])")}),
            (Ports{{80, {"service/ns/web/1", 30002}}, {8080, {"service/ns/web/2", 30003}}}));
}

TEST(NodePorts, OfServicesThatSelectOthersAreNotThePods) {
  text::Json other = Service("NodePort", R"([{"port": 6006, "nodePort": 30001}])");
  text::Set(other, {"spec", "selector", "role"}, "z");
  text::Json none = other;
  text::Erase(none, {"spec", "selector"});
  EXPECT_TRUE(NodePortsOfPod(Pod(), {other, none}).empty());
}

}  // namespace
}  // namespace local::node
