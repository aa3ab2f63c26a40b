#include "arena/streams/port_relay.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <condition_variable>
#include <thread>

#include "cluster/testing/fake_exec.h"
#include "net/socket/tcp.h"

namespace arena {
namespace {

using base::Code;

std::string WhyNoPair(std::string_view text) {
  const auto pair = ParsePortPair(text);
  return pair ? "fine" : pair.error().message;
}

TEST(PortPair, IsReadAsKubectlsIs) {
  const auto same = ParsePortPair("8080");
  ASSERT_TRUE(same);
  EXPECT_EQ(same->local, 8080);
  EXPECT_EQ(same->remote, 8080);
  const auto two = ParsePortPair("8888:5000");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->local, 8888);
  EXPECT_EQ(two->remote, 5000);
  const auto any = ParsePortPair(":5000");
  ASSERT_TRUE(any);
  EXPECT_EQ(any->local, 0);
  EXPECT_EQ(any->remote, 5000);
  for (const char* text : {"", ":", "0", "65536", "a", "1:", "1:0", "0:1", "1:2:3", "-1", " 1"}) {
    EXPECT_NE(WhyNoPair(text).find("is not a port"), std::string::npos) << text;
  }
}

// Relays to scripts, one per connection.
class PortRelayTest : public testing::Test {
 protected:
  void SetUp() override {
    auto listeners = ListenForPorts({"127.0.0.1"}, {{0, 5000}});
    ASSERT_TRUE(listeners) << listeners.error().message;
    listeners_ = std::move(*listeners);
    thread_ = std::jthread([this] {
      const base::Error ended = RelayPorts(
          listeners_, [this](uint16_t remote) { return Dial(remote); },
          {[this](uint16_t) { Note("opened"); },
           [this](uint16_t, const base::Error& why) { Note("failed: " + why.message); }});
      Note("ended: " + ended.message);
    });
  }
  void TearDown() override {
    {
      const std::lock_guard lock(mutex_);
      refusal_ = base::Error{Code::kNotFound, "gone", 0};
    }
    Client();
    thread_.join();
  }

  base::Result<std::unique_ptr<cluster::PortStream>> Dial(uint16_t remote) {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(remote, 5000);
    if (refusal_) return base::Fail(*refusal_);
    scripts_.push_back(std::make_shared<cluster::ExecScript>());
    scripts_.back()->Say(cluster::kPortData, cluster::PortNumber(remote));
    scripts_.back()->Say(cluster::kPortError, cluster::PortNumber(remote));
    changed_.notify_all();
    return std::make_unique<cluster::PortStream>(
        std::make_unique<cluster::ScriptedSocket>(scripts_.back()));
  }
  std::shared_ptr<cluster::ExecScript> Script(size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return scripts_.size() > n; });
    return scripts_.at(n);
  }
  void Note(const std::string& what) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(what);
    changed_.notify_all();
  }
  std::vector<std::string> Notes(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return notes_.size() >= count; });
    return notes_;
  }
  base::Fd Client() {
    auto fd = net::ConnectToTcp("127.0.0.1", net::LocalPort(listeners_[0].fd.get()),
                                std::chrono::seconds(60));
    EXPECT_TRUE(fd) << fd.error().message;
    return fd ? std::move(*fd) : base::Fd();
  }
  static std::string ReadAll(const base::Fd& fd) {
    std::string text;
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0) {
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }

  std::vector<PortListener> listeners_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<cluster::ExecScript>> scripts_;
  std::optional<base::Error> refusal_;
  std::vector<std::string> notes_;
  std::jthread thread_;
};

TEST_F(PortRelayTest, CarriesConnectionsBesideEachOther) {
  const base::Fd one = Client();
  const auto first = Script(0);
  const base::Fd two = Client();
  const auto second = Script(1);
  ASSERT_EQ(::send(one.get(), "hello", 5, MSG_NOSIGNAL), 5);
  EXPECT_EQ(first->Heard(1).at(0), std::string("\0hello", 6));
  second->Say(cluster::kPortData, "of two");
  second->Close();
  EXPECT_EQ(ReadAll(two), "of two");
  first->Say(cluster::kPortData, "of one");
  first->Close();
  EXPECT_EQ(ReadAll(one), "of one");
  EXPECT_EQ(Notes(2), (std::vector<std::string>{"opened", "opened"}));
}

TEST_F(PortRelayTest, WhoHasSentAllStillGetsTheAnswer) {
  const base::Fd client = Client();
  const auto script = Script(0);
  ASSERT_EQ(::send(client.get(), "question", 8, MSG_NOSIGNAL), 8);
  ::shutdown(client.get(), SHUT_WR);
  script->Heard(1);
  script->Say(cluster::kPortData, "answer");
  script->Close();
  EXPECT_EQ(ReadAll(client), "answer");
}

TEST_F(PortRelayTest, APortThatIsShutIsReportedAndOthersGoOn) {
  const base::Fd one = Client();
  const auto script = Script(0);
  script->Say(cluster::kPortError, "nothing listens");
  script->Close();
  EXPECT_EQ(ReadAll(one), "");
  EXPECT_EQ(Notes(2), (std::vector<std::string>{"opened", "failed: nothing listens"}));
  const base::Fd two = Client();
  Script(1)->Close();
  EXPECT_EQ(ReadAll(two), "");
}

TEST_F(PortRelayTest, ItEndsWhenThePodIsGone) {
  const base::Fd open = Client();
  const auto script = Script(0);
  {
    const std::lock_guard lock(mutex_);
    refusal_ = base::Error{Code::kNotFound, "pods \"p\" not found", 0};
  }
  const base::Fd late = Client();
  EXPECT_EQ(Notes(3).at(2), "ended: pods \"p\" not found");
  EXPECT_EQ(ReadAll(open), "");
  EXPECT_EQ(ReadAll(late), "");
}

TEST(PortListeners, APortThatIsTakenIsNamed) {
  const auto first = ListenForPorts({"localhost"}, {{0, 80}});
  ASSERT_TRUE(first) << first.error().message;
  const uint16_t port = net::LocalPort(first->at(0).fd.get());
  EXPECT_EQ(first->at(0).address, "127.0.0.1:" + std::to_string(port));
  const auto second = ListenForPorts({"127.0.0.1"}, {{port, 80}});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(std::to_string(port) + " is in use"), std::string::npos);
}

}  // namespace
}  // namespace arena
