#include "local/daemon/pods/node_ports.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "api/object.h"
#include "local/node/devices/machine_lock.h"
#include "local/node/testing/agent_fake_cluster.h"

namespace local::daemon {
namespace {

text::Json Service(const std::string& name, std::string_view type = "NodePort") {
  return text::Object{
      {"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", "uid-" + name}}},
      {"spec", {{"type", type}, {"ports", text::Array{text::Object{{"port", 6006}}}}}}};
}

int64_t PortOf(const text::Json& service) {
  const text::Array& ports = *text::FindArray(service, {"spec", "ports"});
  return text::GetInt(ports[0], {"nodePort"}).value_or(0);
}

class NodePortsTest : public testing::Test {
 protected:
  NodePortsTest()
      : prefix_("muster-test-" + std::to_string(::getpid()) + "/node-port/"),
        ports_({{23456, 32767}}, prefix_),
        client_(cluster_.Connect()) {}

  bool IsLocked(int64_t port) const {
    return !node::LockMachineWide(prefix_ + std::to_string(port));
  }

  const std::string prefix_;
  node::PortAllocator ports_;
  node::FakeCluster cluster_;
  cluster::Client client_;
};

TEST_F(NodePortsTest, AreAssignedWhereOneIsWanted) {
  text::Json service = Service("web");
  ASSERT_TRUE(AssignNodePorts(ports_, nullptr, service));
  const int64_t port = PortOf(service);
  EXPECT_GE(port, 23456);
  EXPECT_TRUE(IsLocked(port));
  text::Json other = Service("other");
  ASSERT_TRUE(AssignNodePorts(ports_, nullptr, other));
  EXPECT_NE(PortOf(other), port);
  text::Json internal = Service("internal", "ClusterIP");
  ASSERT_TRUE(AssignNodePorts(ports_, nullptr, internal));
  EXPECT_EQ(PortOf(internal), 0);
}

TEST_F(NodePortsTest, StayTheSameThroughUpdatesAndTheUsersOwnAreKept) {
  text::Json service = Service("web");
  ASSERT_TRUE(AssignNodePorts(ports_, nullptr, service));
  text::Json update = Service("web");
  ASSERT_TRUE(AssignNodePorts(ports_, &service, update));
  EXPECT_EQ(PortOf(update), PortOf(service));
  text::Json again = Service("web");  // the same write, retried
  ASSERT_TRUE(AssignNodePorts(ports_, nullptr, again));
  EXPECT_EQ(PortOf(again), PortOf(service));
  text::Json chosen = Service("chosen");
  text::Set(text::Find(chosen, {"spec", "ports"})->as_array()[0], {"nodePort"}, 30000);
  ASSERT_TRUE(AssignNodePorts(ports_, nullptr, chosen));
  EXPECT_EQ(PortOf(chosen), 30000);
}

TEST_F(NodePortsTest, AreLockedAsLongAsTheServiceLives) {
  text::Json early = Service("early");
  ASSERT_TRUE(AssignNodePorts(ports_, nullptr, early));
  ports_.Release("service/ns/early/6006");  // by an earlier daemon
  cluster_.Put(api::kServices, early);
  const NodePortKeeper keeper(client_, ports_);
  ASSERT_TRUE(cluster_.WaitWatched());
  EXPECT_TRUE(IsLocked(PortOf(early)));
  text::Json late = Service("late");
  ASSERT_TRUE(AssignNodePorts(ports_, nullptr, late));
  cluster_.Put(api::kServices, late);
  cluster_.Remove(api::kServices, "ns", "early");
  ASSERT_TRUE(cluster_.WaitWatched());
  EXPECT_FALSE(IsLocked(PortOf(early)));
  EXPECT_TRUE(IsLocked(PortOf(late)));
  text::Json changed = late;
  text::Set(changed, {"spec", "type"}, "ClusterIP");
  cluster_.Put(api::kServices, changed);
  ASSERT_TRUE(cluster_.WaitWatched());
  EXPECT_FALSE(IsLocked(PortOf(late)));
}

TEST_F(NodePortsTest, OfTwoServicesThatChooseTheSameTheFirstToStartHasIt) {
  const int port = *ports_.Assign("any", std::nullopt);
  ports_.Release("any");
  const auto chosen = [port](const std::string& name) {
    text::Json service = Service(name);
    text::Set(text::Find(service, {"spec", "ports"})->as_array()[0], {"nodePort"}, port);
    return service;
  };
  cluster_.Put(api::kServices, chosen("early"));
  const NodePortKeeper keeper(client_, ports_);
  ASSERT_TRUE(cluster_.WaitWatched());
  cluster_.Put(api::kServices, chosen("late"));
  ASSERT_TRUE(cluster_.WaitWatched());
  EXPECT_TRUE(ports_.LockForStart("service/ns/early/6006", ""));
  EXPECT_EQ(ports_.LockForStart("service/ns/late/6006", "").error().code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace local::daemon
