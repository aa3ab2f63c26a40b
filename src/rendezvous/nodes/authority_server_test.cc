#include "rendezvous/nodes/authority_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "rendezvous/nodes/rendezvous.h"

namespace rendezvous {
namespace {

constexpr NodeId kNode = 7;

// An agent's end of a connection to the authority.
class Caller {
 public:
  Caller(process::EventLoop& loop, AuthorityServer& authority, NodeId node = kNode)
      : loop_(loop), node_(node) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    AgentLink::Callbacks callbacks;
    callbacks.on_ready = [this] {
      is_ready_ = true;
      loop_.Stop();
    };
    callbacks.on_message = [this](const AgentMessage& message) {
      if (message.type == AgentMessage::Type::kStart) ++starts_;
      if (message.type == AgentMessage::Type::kStop) ++stops_;
      if (message.type == AgentMessage::Type::kTell) {
        told_ += fmt::format("{}: {} ", message.node_rank, message.text);
      }
      if (message.type == AgentMessage::Type::kHeartbeat) has_answer_ = true;
      loop_.Stop();
    };
    callbacks.on_closed = [this](const AgentLink::Closed&) {
      is_closed_ = true;
      loop_.Stop();
    };
    link_ = std::make_unique<AgentLink>(loop, base::Fd(ends[0]), AgentLink::Side::kAgent, "",
                                        std::move(callbacks));
    authority.Adopt(base::Fd(ends[1]), {}, "");
    link_->Start();
    while (!is_ready_) EXPECT_TRUE(loop_.Run());
  }

  void Join(const NodeRequest& request) {
    AgentMessage join;
    join.type = AgentMessage::Type::kJoin;
    join.node = node_;
    join.request = request;
    link_->Send(join);
  }
  void Tell(uint64_t generation, const std::string& text, int node_rank = 0) {
    AgentMessage tell;
    tell.type = AgentMessage::Type::kTell;
    tell.generation = generation;
    tell.node_rank = node_rank;
    tell.text = text;
    link_->Send(tell);
  }
  // Until the authority has read all that was sent.
  void AwaitAnswer() {
    has_answer_ = false;
    AgentMessage beat;
    beat.type = AgentMessage::Type::kHeartbeat;
    link_->Send(beat);
    while (!has_answer_) ASSERT_TRUE(loop_.Run());
  }
  const std::string& told() const { return told_; }
  int starts() const { return starts_; }
  int stops() const { return stops_; }
  bool is_closed() const { return is_closed_; }

 private:
  process::EventLoop& loop_;
  NodeId node_;
  std::unique_ptr<AgentLink> link_;
  std::string told_;
  bool has_answer_ = false;
  bool is_ready_ = false;
  bool is_closed_ = false;
  int starts_ = 0;
  int stops_ = 0;
};

AuthorityConfig ConfigOf(int nodes) {
  AuthorityConfig config;
  config.job.host = "a";
  config.job.min_nodes = config.job.max_nodes = nodes;
  config.host = kNode;
  return config;
}

// A join that the network has held up until the agent had joined again and its workers ran: taken
// for the agent's return, it would start a generation beside them.
TEST(AuthorityServer, AJoinOnAnOlderConnectionThanTheAgentsIsNotHeard) {
  const auto loop = std::move(*process::EventLoop::Create(base::SystemClock()));
  AuthorityConfig config;
  config.job.host = "a";
  config.job.max_restarts = 3;
  config.host = kNode;
  AuthorityServer authority(*loop, base::SystemClock(), config, [] {});
  Caller older(*loop, authority);
  Caller newer(*loop, authority);
  newer.Join(config.job);
  while (newer.starts() == 0) ASSERT_TRUE(loop->Run());
  older.Join(config.job);
  while (!older.is_closed()) ASSERT_TRUE(loop->Run());
  loop->Post([&] { loop->Stop(); });
  ASSERT_TRUE(loop->Run());
  EXPECT_FALSE(newer.is_closed());
  EXPECT_EQ(newer.stops(), 0);
  EXPECT_EQ(newer.starts(), 1);
  EXPECT_EQ(older.starts(), 0);
}

TEST(AuthorityServer, WhoIsNoNodeOfTheRunningGenerationTellsTheHostNothing) {
  const auto loop = std::move(*process::EventLoop::Create(base::SystemClock()));
  const AuthorityConfig config = ConfigOf(2);
  AuthorityServer authority(*loop, base::SystemClock(), config, [] {});
  Caller host(*loop, authority);
  Caller other(*loop, authority, kNode + 1);
  Caller late(*loop, authority, kNode + 2);
  host.Join(config.job);
  other.Join(config.job);
  while (host.starts() == 0 || other.starts() == 0) ASSERT_TRUE(loop->Run());
  late.Join(config.job);
  late.Tell(1, "late");
  late.AwaitAnswer();
  other.Tell(1, "known");
  const std::string longest(Rendezvous::kLongestTold, 'a');
  other.Tell(1, longest);
  other.AwaitAnswer();
  host.AwaitAnswer();
  EXPECT_EQ(host.told(), "1: known 1: " + longest + " ");
}

TEST(AuthorityServer, ANodeCannotSpeakForAnother) {
  const auto loop = std::move(*process::EventLoop::Create(base::SystemClock()));
  const AuthorityConfig config = ConfigOf(3);
  AuthorityServer authority(*loop, base::SystemClock(), config, [] {});
  Caller host(*loop, authority);
  Caller second(*loop, authority, kNode + 1);
  Caller third(*loop, authority, kNode + 2);
  for (Caller* const caller : {&host, &second, &third}) {
    caller->Join(config.job);
    caller->AwaitAnswer();
  }
  third.Tell(1, "of the second", 1);
  third.AwaitAnswer();
  host.AwaitAnswer();
  EXPECT_EQ(host.told(), "2: of the second ");
}

}  // namespace
}  // namespace rendezvous
