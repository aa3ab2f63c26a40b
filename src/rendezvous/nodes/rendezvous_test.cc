#include "rendezvous/nodes/rendezvous.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "rendezvous/nodes/agent_link.h"
#include "rendezvous/nodes/agent_message.h"
#include "rendezvous/sockets/listener.h"
#include "rendezvous/testing/store_test_client.h"

namespace rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A node that logs what it is told, and does it.
class TestNode : public RendezvousEvents {
 public:
  TestNode(process::EventLoop& loop, std::string name) : loop_(loop), name_(std::move(name)) {}

  base::Status Join(RendezvousConfig config) {
    config.node.host = name_;
    auto joined = Rendezvous::Join(loop_, base::SystemClock(), config, *this);
    if (!joined) return base::Fail(joined.error());
    rendezvous_ = std::move(*joined);
    return {};
  }
  void OnStart(const Assignment& assignment) override {
    assignment_ = assignment;
    log_ += fmt::format("start {}:{}/{} ", assignment.generation, assignment.self,
                        assignment.nodes.size());
    loop_.Stop();
  }
  void OnStop(uint64_t generation, StopReason reason, const std::optional<Failure>& failure,
              base::Duration) override {
    log_ += fmt::format("stop {} ", generation);
    reason_ = reason;
    failure_ = failure;
    if (obeys_) rendezvous_->Stopped(generation);
    loop_.Stop();
  }
  void OnEnd(const End& end) override {
    log_ += "end ";
    end_ = end;
    loop_.Stop();
  }
  void OnProgress(const std::string& line) override {
    progress_ += line + "\n";
    loop_.Stop();
  }
  void OnTold(int node_rank, const std::string& text) override {
    log_ += fmt::format("told {} by {} ", text, node_rank);
    loop_.Stop();
  }

  Rendezvous& rendezvous() { return *rendezvous_; }
  void Die() { rendezvous_.reset(); }
  // It is told to stop its workers, and they go on.
  void Disobey() { obeys_ = false; }
  const std::string& log() const { return log_; }
  const std::string& progress() const { return progress_; }
  const Assignment& assignment() const { return assignment_; }
  const std::optional<End>& end() const { return end_; }
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  process::EventLoop& loop_;
  std::string name_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::string log_;
  std::string progress_;
  Assignment assignment_;
  std::optional<End> end_;
  std::optional<Failure> failure_;
  StopReason reason_ = StopReason::kWorkerFailed;
  bool obeys_ = true;
};

class RendezvousTest : public ::testing::Test {
 protected:
  RendezvousTest() : loop_(std::move(*process::EventLoop::Create(base::SystemClock()))) {
    config_.endpoint_host = "127.0.0.1";
    config_.node.min_nodes = 2;
    config_.node.max_nodes = 2;
    config_.node.nproc = 2;
    config_.heartbeat_interval = milliseconds(50);
  }
  // The host is destroyed last, because it waits for the others to leave.
  ~RendezvousTest() override {
    while (!nodes_.empty()) nodes_.erase(std::prev(nodes_.end()));
  }
  // Node a hosts; b and the others join it.
  TestNode& Join(const std::string& name) {
    nodes_[name] = std::make_unique<TestNode>(*loop_, name);
    const base::Status joined = nodes_[name]->Join(config_);
    EXPECT_TRUE(joined) << (joined ? "" : joined.error().message);
    if (nodes_.size() == 1) config_.endpoint_port = nodes_[name]->rendezvous().port();
    return *nodes_[name];
  }
  // Runs until `holds` returns true; fails the test after a minute.
  void RunUntil(const std::function<bool()>& holds) {
    bool is_over = false;
    const auto timer = loop_->After(seconds(60), [&] {
      is_over = true;
      loop_->Stop();
    });
    while (!holds() && !is_over) ASSERT_TRUE(loop_->Run());
    loop_->Cancel(timer);
    ASSERT_FALSE(is_over) << "waited for a minute";
  }
  void RunUntilLog(const TestNode& node, const std::string& log) {
    RunUntil([&] { return node.log() == log; });
  }

  std::unique_ptr<process::EventLoop> loop_;
  RendezvousConfig config_;
  std::map<std::string, std::unique_ptr<TestNode>> nodes_;
};

TEST_F(RendezvousTest, TwoNodesAgreeRunAndEnd) {
  TestNode& a = Join("a");
  TestNode& b = Join("b");
  EXPECT_TRUE(a.rendezvous().is_host());
  EXPECT_FALSE(b.rendezvous().is_host());
  RunUntil([&] { return !a.log().empty() && !b.log().empty(); });
  EXPECT_EQ(a.log(), "start 1:0/2 ");
  EXPECT_EQ(b.log(), "start 1:1/2 ");
  EXPECT_EQ(b.assignment().world_size, 4);
  EXPECT_EQ(b.assignment().nodes[1].first_rank, 2);
  EXPECT_EQ(b.assignment().master_addr, "127.0.0.1");
  EXPECT_EQ(b.assignment().master_port, a.rendezvous().port());
  // The workers' store answers on the same port.
  testing::TestSocket worker(b.assignment().master_port);
  worker.Send(testing::Hello() + testing::Add("n", 4));
  EXPECT_EQ(worker.ReceiveNumber<int64_t>(), 4);
  EXPECT_EQ(a.rendezvous().Snapshot().keys.size(), 1U);
  a.rendezvous().Succeeded(1);
  b.rendezvous().Succeeded(1);
  RunUntil([&] { return a.end() && b.end(); });
  EXPECT_EQ(b.end()->kind, EndKind::kSucceeded);
}

TEST_F(RendezvousTest, AFailureStopsEveryNodeAndTheStoreBeginsEmptyAgain) {
  config_.node.max_restarts = 1;
  TestNode& a = Join("a");
  TestNode& b = Join("b");
  RunUntil([&] { return !a.log().empty() && !b.log().empty(); });
  testing::TestSocket worker(a.rendezvous().port());
  worker.Send(testing::Hello() + testing::Set("k", "v") + testing::Get("k"));
  EXPECT_EQ(worker.ReceiveText(), "v");
  b.rendezvous().Failed(1, {"b", 3, 1, -11, "segmentation fault"});
  RunUntil([&] { return a.assignment().generation == 2 && b.assignment().generation == 2; });
  EXPECT_EQ(a.log(), "start 1:0/2 stop 1 start 2:0/2 ");
  EXPECT_EQ(a.failure()->text, "segmentation fault");
  EXPECT_EQ(a.assignment().restart_count, 1);
  EXPECT_TRUE(worker.IsClosedByPeer());
  EXPECT_TRUE(a.rendezvous().Snapshot().keys.empty());
  a.rendezvous().Failed(2, {"a", 0, 0, 7, "boom"});
  RunUntil([&] { return a.end() && b.end(); });
  EXPECT_EQ(b.end()->kind, EndKind::kFailed);
  EXPECT_EQ(b.end()->failure->exit_code, 7);
  EXPECT_EQ(b.end()->failure->host, "a");
}

TEST_F(RendezvousTest, ANodeWhoseAgentDiesIsMissedAtOnce) {
  config_.node.min_nodes = 1;
  config_.node.max_nodes = 3;
  config_.last_call_timeout = milliseconds(0);
  TestNode& a = Join("a");
  RunUntilLog(a, "start 1:0/1 ");
  TestNode& b = Join("b");
  RunUntil([&] { return b.assignment().generation == 2 && a.assignment().generation == 2; });
  b.Die();
  RunUntil([&] { return a.assignment().generation == 3; });
  EXPECT_EQ(a.log(), "start 1:0/1 stop 1 start 2:0/2 stop 2 start 3:0/1 ");
  EXPECT_EQ(a.failure()->text, "b was lost: its agent has died");
}

TEST_F(RendezvousTest, ANodeThatWaitsForItsHostSaysSoAndFindsItLater) {
  auto taken = Listener::Bind("", 0);
  ASSERT_TRUE(taken);
  config_.endpoint_port = taken->port();
  *taken = std::move(*Listener::Bind("", 0));  // free again, and its number known
  config_.is_host = false;
  TestNode& b = Join("b");
  RunUntil([&] { return !b.progress().empty(); });
  EXPECT_NE(b.progress().find(
                fmt::format("waiting for the rendezvous endpoint 127.0.0.1:{} (--rdzv-endpoint): "
                            "127.0.0.1:{}: Connection refused (",
                            config_.endpoint_port, config_.endpoint_port)),
            std::string::npos)
      << b.progress();
  config_.is_host = true;
  TestNode& a = Join("a");
  RunUntil([&] { return !a.log().empty() && !b.log().empty(); });
  EXPECT_EQ(b.log(), "start 1:1/2 ");
}

TEST_F(RendezvousTest, AnEndpointThatCannotBeReachedIsAnErrorWithTheReason) {
  auto taken = Listener::Bind("", 0);
  ASSERT_TRUE(taken);
  config_.endpoint_port = taken->port();
  *taken = std::move(*Listener::Bind("", 0));
  config_.is_host = false;
  config_.join_timeout = milliseconds(200);
  TestNode& b = Join("b");
  RunUntil([&] { return b.end().has_value(); });
  EXPECT_EQ(b.end()->kind, EndKind::kError);
  EXPECT_NE(b.end()->error.message.find("Connection refused"), std::string::npos);
}

// The end of a connection says that the agent is dead and its workers are ended by the guardian:
// the others would go on while they still run.
TEST_F(RendezvousTest, AConnectionToAHostThatFellSilentEndsOnlyOnceTheWorkersHaveStopped) {
  const auto listener = Listener::Bind("127.0.0.1", 0);
  ASSERT_TRUE(listener);
  std::unique_ptr<AgentLink> host;
  bool is_closed = false;
  AgentLink::Callbacks callbacks;
  callbacks.on_message = [&](const AgentMessage& message) {
    if (message.type != AgentMessage::Type::kJoin) return;
    AgentMessage start;
    start.type = AgentMessage::Type::kStart;
    start.assignment = MakeAssignment(1, 0, {&message.request});
    host->Send(start);
  };
  callbacks.on_closed = [&](const AgentLink::Closed&) {
    is_closed = true;
    loop_->Stop();
  };
  ASSERT_TRUE(loop_->Watch(listener->fd(), EPOLLIN, [&](uint32_t) {
    Endpoint peer;
    auto accepted = listener->Accept(peer);
    if (!accepted || host) return;
    host = std::make_unique<AgentLink>(*loop_, std::move(*accepted), AgentLink::Side::kAuthority,
                                       "", callbacks);
    host->Start();
  }));
  config_.is_host = false;
  config_.endpoint_port = listener->port();
  config_.heartbeat_timeout = milliseconds(200);
  TestNode& a = Join("a");
  a.Disobey();
  RunUntilLog(a, "start 1:0/1 stop 1 ");
  loop_->Post([this] { loop_->Stop(); });
  ASSERT_TRUE(loop_->Run());
  EXPECT_FALSE(is_closed);
  a.rendezvous().Stopped(1);
  RunUntil([&] { return is_closed; });
  loop_->Unwatch(listener->fd());
}

TEST_F(RendezvousTest, AnEndpointThatAcceptsAndIsSilentIsNamed) {
  auto silent = Listener::Bind("", 0);
  ASSERT_TRUE(silent);
  config_.endpoint_port = silent->port();
  config_.is_host = false;
  TestNode& b = Join("b");
  RunUntil([&] { return !b.progress().empty(); });
  EXPECT_EQ(
      b.progress(),
      fmt::format("127.0.0.1:{} accepts connections but does not answer as a muster agent; is "
                  "torchrun running there? (--rdzv-endpoint)\n",
                  silent->port()));
  config_.join_timeout = milliseconds(200);
  TestNode& c = Join("c");
  RunUntil([&] { return c.end().has_value(); });
  EXPECT_EQ(c.end()->kind, EndKind::kError);
  EXPECT_NE(
      c.end()->error.message.find("does not answer as a muster agent; is torchrun running there?"),
      std::string::npos)
      << c.end()->error.message;
}

TEST_F(RendezvousTest, AStoreClientThatIsNoWorkerIsNamedOnce) {
  TestNode& a = Join("a");
  RunUntil([&] { return !a.progress().empty(); });
  const auto count = [&] {
    int found = 0;
    for (size_t at = 0;
         (at = a.progress().find("is torchrun running there?", at)) != std::string::npos;) {
      ++at;
      ++found;
    }
    return found;
  };
  for (int i = 0; i < 2; ++i) {
    testing::TestSocket early(a.rendezvous().port());
    early.Send(testing::Hello() + testing::Add("n", 1));
    early.ReceiveNumber<int64_t>();
    RunUntil([&] { return count() > 0; });
  }
  TestNode& b = Join("b");
  RunUntil([&] { return !a.log().empty() && !b.log().empty(); });
  EXPECT_EQ(count(), 1);
  EXPECT_NE(a.progress().find("127.0.0.1 uses the workers' store"), std::string::npos);
  EXPECT_EQ(b.progress().find("torchrun"), std::string::npos) << "workers are not strangers";
}

TEST_F(RendezvousTest, ATorchrunThatComesWhileTheWorkersRunIsNamed) {
  config_.node.min_nodes = 1;
  config_.last_call_timeout = milliseconds(0);
  const std::string of_c10d =
      testing::Byte(2) + testing::Text("/torch.rendezvous.job") + testing::Text("");
  const std::string of_static = testing::Byte(1) + testing::Text("/none/torchelastic/role_info1");
  for (const std::string& first : {of_c10d, of_static}) {
    TestNode& a = Join("a");
    RunUntilLog(a, "start 1:0/1 ");
    testing::TestSocket worker(a.rendezvous().port());
    worker.Send(testing::Hello() + testing::Add("n", 1));
    worker.ReceiveNumber<int64_t>();
    worker.Send(testing::Byte(1) + testing::Text("worker/role_info") + testing::Text("x") +
                testing::Add("n", 1));
    worker.ReceiveNumber<int64_t>();
    EXPECT_EQ(a.progress().find("torchrun"), std::string::npos);
    testing::TestSocket agent(a.rendezvous().port());
    agent.Send(testing::Hello() + first + testing::Text("state"));
    RunUntil([&] { return a.progress().find("is torchrun running there?") != std::string::npos; });
  }
}

// Longer than a DNS name may be, so that no server is asked.
const std::string kUnknownName(64, 'x');

TEST_F(RendezvousTest, TheHostIsReachedByTheAddressThatTheOthersUse) {
  config_.node.is_static = true;
  config_.node.node_rank = 0;
  config_.endpoint_flag = "--master-addr";
  config_.endpoint_host = kUnknownName;
  config_.join_timeout = milliseconds(200);
  TestNode& a = Join("a");
  EXPECT_TRUE(a.rendezvous().is_host());
  RunUntil([&] { return a.end().has_value(); });
  EXPECT_EQ(a.end()->kind, EndKind::kError);
  const std::string& said = a.end()->error.message;
  EXPECT_NE(said.find("(--master-addr) cannot be reached"), std::string::npos) << said;
  EXPECT_NE(said.find("no address is known for host " + kUnknownName), std::string::npos) << said;
  EXPECT_NE(said.find("This node serves it"), std::string::npos) << said;
}

TEST_F(RendezvousTest, ANameThatIsNotKnownYetIsAskedForAgain) {
  config_.endpoint_host = kUnknownName;
  config_.endpoint_port = 29400;
  config_.join_timeout = milliseconds(200);
  TestNode& a = Join("a");
  EXPECT_FALSE(a.rendezvous().is_host());
  RunUntil([&] { return a.end().has_value(); });
  const std::string& said = a.end()->error.message;
  EXPECT_NE(said.find("(--rdzv-endpoint) cannot be reached"), std::string::npos) << said;
}

TEST_F(RendezvousTest, WhoServesWhereTheOthersCannotComeIsTold) {
  config_.endpoint_host = "localhost";
  TestNode& a = Join("a");
  RunUntil([&] {
    return a.progress().find("on other machines cannot join at localhost:") != std::string::npos;
  });
}

TEST_F(RendezvousTest, WhoHasBeenFoundThereIsNot) {
  config_.endpoint_host = "localhost";
  config_.node.max_restarts = 1;
  TestNode& a = Join("a");
  TestNode& b = Join("b");
  RunUntil([&] { return !a.log().empty() && !b.log().empty(); });
  b.Disobey();
  a.rendezvous().Failed(1, {"a", 0, 0, 7, "boom"});
  bool is_over = false;
  loop_->After(milliseconds(2500), [&] { is_over = true, loop_->Stop(); });
  RunUntil([&] { return is_over; });
  EXPECT_EQ(a.log(), "start 1:0/2 stop 1 ");
  EXPECT_EQ(a.progress().find("cannot join"), std::string::npos) << a.progress();
}

TEST_F(RendezvousTest, WhoServesAnAddressOfAnotherMachineIsTold) {
  config_.endpoint_host = "192.0.2.1";
  config_.is_host = true;
  TestNode& a = Join("a");
  RunUntil([&] {
    return a.progress().find("no other node may have is_host=true") != std::string::npos;
  });
}

TEST_F(RendezvousTest, TheHostTellsAllOthersAndEachOfThemTheHost) {
  config_.node.min_nodes = config_.node.max_nodes = 3;
  TestNode& a = Join("a");
  TestNode& b = Join("b");
  TestNode& c = Join("c");
  RunUntil([&] { return !a.log().empty() && !b.log().empty() && !c.log().empty(); });
  const std::string started = a.log();
  b.rendezvous().Tell(1, "up");
  std::string told = started + fmt::format("told up by {} ", b.assignment().self);
  RunUntilLog(a, told);
  a.rendezvous().Tell(1, "down");
  const std::string down = fmt::format("told down by {} ", a.assignment().self);
  RunUntil([&] { return b.log().ends_with(down) && c.log().ends_with(down); });
  // Of another generation: it is dropped, and what follows arrives.
  c.rendezvous().Tell(2, "early");
  c.rendezvous().Tell(1, "late");
  told += fmt::format("told late by {} ", c.assignment().self);
  RunUntilLog(a, told);
}

TEST_F(RendezvousTest, WhoWaitsLearnsForWhom) {
  config_.node.is_static = true;
  config_.node.node_rank = 0;
  config_.node.min_nodes = 3;
  config_.node.max_nodes = 3;
  TestNode& a = Join("a");
  RunUntil([&] { return !a.progress().empty(); });
  EXPECT_EQ(a.progress(),
            "1 of 3 nodes have joined; a (node rank 0) is here; waiting for node rank 1, 2\n");
}

TEST_F(RendezvousTest, TheSameTokenIsAskedOfAll) {
  config_.token = "secret";
  TestNode& a = Join("a");
  const std::string refused = fmt::format(
      "the rendezvous endpoint 127.0.0.1:{} refused this node: ", config_.endpoint_port);
  config_.token = "wrong";
  TestNode& stranger = Join("b");
  RunUntil([&] { return stranger.end().has_value(); });
  EXPECT_EQ(stranger.end()->error.message,
            refused + "the token (--rdzv-conf token=) differs from the job's");
  config_.token.clear();
  TestNode& naked = Join("c");
  RunUntil([&] { return naked.end().has_value(); });
  EXPECT_EQ(naked.end()->error.message,
            refused + "the job asks for a token: give --rdzv-conf token=");
  config_.token = "secret";
  TestNode& d = Join("d");
  RunUntil([&] { return !a.log().empty() && !d.log().empty(); });
  EXPECT_EQ(d.log(), "start 1:1/2 ");
}

TEST_F(RendezvousTest, NodesThatDisagreeAreReportedAtEveryNode) {
  TestNode& a = Join("a");
  config_.node.max_restarts = 3;
  TestNode& b = Join("b");
  RunUntil([&] { return a.end() && b.end(); });
  EXPECT_EQ(a.end()->error.message,
            "the nodes disagree: b has --max-restarts 3, the others --max-restarts 0: give every "
            "node the same");
  EXPECT_EQ(b.end()->error.message, a.end()->error.message);
}

TEST_F(RendezvousTest, TheHostsDeathStopsTheOthersAndEndsAFixedJob) {
  TestNode& a = Join("a");
  TestNode& b = Join("b");
  RunUntil([&] { return !a.log().empty() && !b.log().empty(); });
  a.rendezvous().Leave("SIGTERM");
  RunUntil([&] { return b.end().has_value(); });
  EXPECT_EQ(b.end()->kind, EndKind::kFailed);
  EXPECT_EQ(b.end()->failure->text, "a has left: SIGTERM");
  EXPECT_FALSE(a.end());
}

TEST_F(RendezvousTest, AHostThatLeavesAnElasticJobIsReplacedAndAllNodesJoinTheNext) {
  config_.node.max_nodes = 3;
  config_.last_call_timeout = seconds(50);
  TestNode& a = Join("a");
  TestNode& b = Join("b");
  config_.is_host = false;  // as if it ran on another machine
  TestNode& c = Join("c");
  RunUntil([&] { return !a.log().empty() && !b.log().empty() && !c.log().empty(); });
  config_.is_host.reset();
  a.rendezvous().Leave("SIGTERM");
  RunUntil([&] { return b.log().ends_with("/2 ") && c.log().ends_with("/2 "); });
  EXPECT_TRUE(b.rendezvous().is_host());
  EXPECT_NE(b.log().find(" stop 1 start 2:"), std::string::npos) << b.log();
  TestNode& d = Join("d");
  RunUntil([&] { return !d.log().empty() && b.log().ends_with("3 ") && c.log().ends_with("3 "); });
  EXPECT_NE(b.log().find(" stop 2 start 3:"), std::string::npos) << b.log();
  EXPECT_NE(
      c.progress().find("a has left: SIGTERM; another launcher of its machine takes its place"),
      std::string::npos)
      << c.progress();
  EXPECT_FALSE(b.end() || c.end());
}

TEST_F(RendezvousTest, ANodeOfAnotherVersionIsReportedOnceAtBothEnds) {
  constexpr const char* kOther = "muster-rdzv 1\n";
  const std::string why = "another version of muster runs there, and every node needs the same";
  TestNode& a = Join("a");
  for (int time = 0; time < 2; ++time) {
    testing::TestSocket other(a.rendezvous().port());
    other.Send(kOther);
    while (!other.Receive(64).empty()) {
    }
  }
  const std::string said = "a node at 127.0.0.1 was refused: " + why + "\n";
  RunUntil([&] { return a.progress().find(said) != std::string::npos; });
  config_.node.max_nodes = config_.node.min_nodes = 3;
  TestNode& b = Join("b");  // what it makes the host say comes after all that
  RunUntil([&] { return a.end() && b.end(); });
  EXPECT_EQ(a.progress().find(said), a.progress().rfind(said));

  const auto host = Listener::Bind("", 0);
  ASSERT_TRUE(host);
  base::Result<base::Fd> accepted;
  ASSERT_TRUE(loop_->Watch(host->fd(), EPOLLIN, [&](uint32_t) {
    Endpoint peer;
    accepted = host->Accept(peer);
    if (!accepted) return;
    EXPECT_GT(::send(accepted->get(), kOther, std::strlen(kOther), MSG_NOSIGNAL), 0);
  }));
  config_.is_host = false;
  config_.endpoint_port = host->port();
  TestNode& c = Join("c");
  RunUntil([&] { return c.end().has_value(); });
  loop_->Unwatch(host->fd());
  EXPECT_EQ(
      c.end()->error.message,
      fmt::format("the rendezvous endpoint 127.0.0.1:{} refused this node: {}", host->port(), why));
}

TEST_F(RendezvousTest, GarbageOnTheEndpointDisturbsNobody) {
  TestNode& a = Join("a");
  for (const std::string& bad :
       {std::string("muster-rdzv 9\n"), std::string("mmmmmmmmmmmmmmmmmmmm"),
        std::string(kAgentMagic) + std::string(100, '\xff'),
        std::string(kAgentMagic) + testing::Number(uint32_t{1}) + "\x09"}) {
    testing::TestSocket stranger(a.rendezvous().port());
    stranger.Send(bad);
    while (!stranger.Receive(64).empty()) {
    }
  }
  TestNode& b = Join("b");
  RunUntil([&] { return !a.log().empty() && !b.log().empty(); });
  EXPECT_EQ(b.log(), "start 1:1/2 ");
}

TEST_F(RendezvousTest, ARequestThatMakesNoSenseIsRefusedAtOnce) {
  config_.node.is_static = true;
  TestNode node(*loop_, "a");
  const auto joined = node.Join(config_);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().message, "--node-rank: the static backend needs a rank from 0 to 1");
}

}  // namespace
}  // namespace rendezvous
