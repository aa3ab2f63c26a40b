#include "local/daemon/pods/pod_ports.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <condition_variable>
#include <mutex>
#include <optional>

#include "net/socket/tcp.h"

namespace local::daemon {
namespace {

constexpr std::chrono::seconds kPortPatience{60};

// A client that reads only when it is told to.
class RecordingSink final : public server::PortSink {
 public:
  void Write(std::string bytes) override {
    const std::lock_guard lock(mutex_);
    text_ += bytes;
    changed_.notify_all();
  }
  size_t PendingBytes() const override {
    const std::lock_guard lock(mutex_);
    return text_.size() - taken_;
  }
  void WhenTaken(size_t limit, std::function<void()> callback) override {
    {
      const std::lock_guard lock(mutex_);
      if (text_.size() - taken_ > limit) {
        when_taken_ = std::move(callback);
        changed_.notify_all();
        return;
      }
    }
    callback();
  }
  void Used(size_t bytes) override {
    const std::lock_guard lock(mutex_);
    used_ += bytes;
    changed_.notify_all();
  }
  void Finish(const std::string& error) override {
    const std::lock_guard lock(mutex_);
    error_ = error;
    changed_.notify_all();
  }

  std::string AwaitText(size_t size) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPortPatience, [&] { return text_.size() >= size; });
    return text_;
  }
  bool AwaitUsed(size_t size) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPortPatience, [&] { return used_ >= size; });
  }
  std::string AwaitEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPortPatience, [&] { return error_.has_value(); });
    return error_.value_or("no end");
  }
  // Whether that much has arrived; otherwise the port waits to be called back.
  bool HasCome(size_t size) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPortPatience,
                                  [&] { return when_taken_ || text_.size() >= size; }));
    return text_.size() >= size;
  }
  void TakeAll() {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      taken_ = text_.size();
      callback.swap(when_taken_);
    }
    if (callback) callback();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  size_t taken_ = 0;
  size_t used_ = 0;
  std::optional<std::string> error_;
  std::function<void()> when_taken_;
};

class PodPortsTest : public testing::Test {
 protected:
  PodPortsTest() : ports_(*PodPorts::Start()), sink_(std::make_shared<RecordingSink>()) {}

  // Starts a server on that address of this machine, and connects to it through the ports.
  void Connect(const std::string& host = "127.0.0.1") {
    listener_ = *net::ListenOnTcp(host, 0);
    connection_ = ports_->Open(net::LocalPort(listener_.get()), sink_);
    pollfd waiting{listener_.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, 60'000), 1);
    server_.Reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(server_);
  }
  std::string Receive(size_t size) const {
    std::string bytes(size, '\0');
    const ssize_t count = ::recv(server_.get(), bytes.data(), size, MSG_WAITALL);
    bytes.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return bytes;
  }

  std::unique_ptr<PodPorts> ports_;
  std::shared_ptr<RecordingSink> sink_;
  base::Fd listener_;
  base::Fd server_;
  std::shared_ptr<server::OpenPort> connection_;
};

TEST_F(PodPortsTest, CarriesBytesBothWays) {
  Connect();
  connection_->Write("one");
  connection_->Write("two");
  EXPECT_EQ(Receive(6), "onetwo");
  EXPECT_TRUE(sink_->AwaitUsed(6));
  ASSERT_EQ(::send(server_.get(), "back", 4, MSG_NOSIGNAL), 4);
  EXPECT_EQ(sink_->AwaitText(4), "back");
  server_.Reset();
  EXPECT_EQ(sink_->AwaitEnd(), "");
}

TEST_F(PodPortsTest, EitherOfTheMachinesOwnAddressesWillDo) {
  if (!net::ListenOnTcp("::1", 0)) GTEST_SKIP() << "this machine has no IPv6";
  Connect("::1");
  connection_->Write("x");
  EXPECT_EQ(Receive(1), "x");
}

TEST_F(PodPortsTest, APortThatNobodyListensOnIsSaidSo) {
  uint16_t port = 0;
  {
    const base::Fd gone = *net::ListenOnTcp("127.0.0.1", 0);
    port = net::LocalPort(gone.get());
  }
  connection_ = ports_->Open(port, sink_);
  EXPECT_EQ(sink_->AwaitEnd(),
            "nothing listens on port " + std::to_string(port) + ": Connection refused");
}

TEST_F(PodPortsTest, AHungUpConnectionIsClosed) {
  Connect();
  connection_->HangUp();
  EXPECT_EQ(Receive(1), "");
}

TEST_F(PodPortsTest, AClientThatIsBehindHoldsThePortUp) {
  Connect();
  const std::string text(4 << 20, 'x');
  std::jthread sender([&] {
    EXPECT_EQ(::send(server_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  });
  ASSERT_FALSE(sink_->HasCome(text.size()));
  while (!sink_->HasCome(text.size()) && !HasFailure()) sink_->TakeAll();
  EXPECT_EQ(sink_->AwaitText(text.size()), text);
}

TEST_F(PodPortsTest, APortThatIsBehindUsesNoMore) {
  Connect();
  const std::string text(1 << 20, 'y');
  for (int i = 0; i < 32; ++i) connection_->Write(text);
  for (int i = 0; i < 32; ++i) ASSERT_EQ(Receive(text.size()), text);
  EXPECT_TRUE(sink_->AwaitUsed(32 * text.size()));
}

}  // namespace
}  // namespace local::daemon
