#include "rendezvous/nodes/authority_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

namespace rendezvous {
namespace {

constexpr NodeId kNode = 7;

// An agent's end of a connection to the authority.
class Caller {
 public:
  Caller(process::EventLoop& loop, AuthorityServer& authority) : loop_(loop) {
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
    join.node = kNode;
    join.request = request;
    link_->Send(join);
  }
  int starts() const { return starts_; }
  int stops() const { return stops_; }
  bool is_closed() const { return is_closed_; }

 private:
  process::EventLoop& loop_;
  std::unique_ptr<AgentLink> link_;
  bool is_ready_ = false;
  bool is_closed_ = false;
  int starts_ = 0;
  int stops_ = 0;
};

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

}  // namespace
}  // namespace rendezvous
