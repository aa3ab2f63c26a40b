#include "local/daemon/listener.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <thread>

#include "base/file.h"
#include "text/json.h"
#include "text/yaml.h"

namespace local::daemon {
namespace {

TEST(ListenAddress, IsOfThisMachineAlone) {
  EXPECT_EQ(ParseListenAddress("127.0.0.1:8443")->text(), "127.0.0.1:8443");
  EXPECT_EQ(ParseListenAddress("localhost")->text(), "127.0.0.1:0");
  EXPECT_EQ(ParseListenAddress("localhost:1")->text(), "127.0.0.1:1");
  EXPECT_EQ(ParseListenAddress(":1")->text(), "127.0.0.1:1");
  EXPECT_EQ(ParseListenAddress("[::1]:1")->text(), "[::1]:1");
  for (const char* bad : {"0.0.0.0", "0.0.0.0:1", "[::]:1", "example.com:1", "127.0.0.1:65536",
                          "127.0.0.1:x", "127.0.0.1:-1", "[::1", "[::1]8443", "10.0.0.1"}) {
    const auto refused = ParseListenAddress(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, base::Code::kInvalidArgument);
    EXPECT_NE(refused.error().message.find("use 127.0.0.1:PORT"), std::string::npos);
  }
}

class SteppedClock : public base::Clock {
 public:
  base::Time Now() override { return now; }
  std::chrono::steady_clock::time_point Steady() override { return {}; }
  base::Time now = base::SystemClock().Now();
};

class ListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/muster-listen-XXXXXX";
    folder_ = ::mkdtemp(path);
    const net::HttpHandler handler = [](net::HttpRequest,
                                        std::shared_ptr<net::Responder> responder) {
      responder->Send({200, {}, "ok"});
    };
    auto server = net::HttpServer::ListenUnix(folder_ + "/socket", handler);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    thread_ = std::jthread([this] { server_->Run(); });
    Open();
  }
  void TearDown() override {
    listener_.reset();
    server_->Stop();
    thread_.join();
    (void)base::RemoveTree(folder_);
  }
  void Open() {
    listener_.reset();
    listener_ = std::make_unique<Listener>(
        folder_, *server_,
        [](net::HttpRequest, std::shared_ptr<net::Responder> responder) {
          responder->Send({200, {}, "ok"});
        },
        clock_);
  }
  std::string File(const std::string& name) const {
    const auto text = base::ReadFile(folder_ + "/listen/" + name);
    return text ? *text : "";
  }

  SteppedClock clock_;
  std::string folder_;
  std::unique_ptr<net::HttpServer> server_;
  std::jthread thread_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(ListenerTest, AddressTokenAndAuthorityLast) {
  EXPECT_EQ(Kubeconfig(folder_).error().code, base::Code::kNotFound);
  EXPECT_FALSE(listener_->Resume()->has_value());
  const auto address = listener_->Listen({"127.0.0.1", 0});
  ASSERT_TRUE(address) << address.error().message;
  const auto before = Kubeconfig(folder_);
  ASSERT_TRUE(before) << before.error().message;
  const auto parsed = text::ParseYaml(*before);
  ASSERT_TRUE(parsed);
  EXPECT_NE(before->find("https://" + *address), std::string::npos);
  EXPECT_EQ(text::GetString(*parsed, {"current-context"}), "muster");

  Open();
  EXPECT_EQ(listener_->Resume()->value_or(""), *address);
  EXPECT_EQ(*Kubeconfig(folder_), *before);
  // Off and on again: the port is the same.
  ASSERT_TRUE(listener_->StopListening());
  EXPECT_FALSE(Kubeconfig(folder_));
  EXPECT_EQ(*listener_->Listen({"127.0.0.1", 0}), *address);
  EXPECT_EQ(*Kubeconfig(folder_), *before);
}

TEST_F(ListenerTest, FilesAreForTheOwnerAlone) {
  ASSERT_TRUE(listener_->Listen({"127.0.0.1", 0}));
  for (const char* name : {"token", "ca.key", "ca.crt", "server.key", "server.crt", "address"}) {
    struct stat info{};
    ASSERT_EQ(::stat((folder_ + "/listen/" + name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777U, 0600U) << name;
  }
}

TEST_F(ListenerTest, CertificateIsRenewedBeforeItEnds) {
  ASSERT_TRUE(listener_->Listen({"127.0.0.1", 0}));
  const std::string authority = File("ca.crt");
  const std::string certificate = File("server.crt");
  clock_.now += kCertificateValidity - kRenewBefore - std::chrono::hours(1);
  Open();
  ASSERT_TRUE(listener_->Resume());
  EXPECT_EQ(File("server.crt"), certificate);
  clock_.now += std::chrono::hours(2);
  Open();
  ASSERT_TRUE(listener_->Resume());
  EXPECT_NE(File("server.crt"), certificate);
  EXPECT_EQ(File("ca.crt"), authority);
}

TEST_F(ListenerTest, ATakenPortLeavesTheOldOne) {
  const auto address = listener_->Listen({"127.0.0.1", 0});
  ASSERT_TRUE(address);
  Listener other(folder_ + "/other", *server_, nullptr, clock_);
  const uint16_t port = ParseListenAddress(*address)->port;
  EXPECT_EQ(other.Listen({"127.0.0.1", port}).error().code, base::Code::kAlreadyExists);
  EXPECT_FALSE(Kubeconfig(folder_ + "/other"));
  EXPECT_TRUE(Kubeconfig(folder_));
}

TEST_F(ListenerTest, IsToldByPost) {
  const auto post = [&](const std::string& body) {
    return listener_->Handle({"POST", std::string(kListenPath), {}, body});
  };
  EXPECT_EQ(post(R"({"address":"127.0.0.1"})").status, 200);
  EXPECT_EQ(post(R"({"address":"0.0.0.0:1"})").status, 400);
  EXPECT_EQ(post("{").status, 400);
  EXPECT_EQ(post(R"({"address":"off"})").body, R"({"address":""})");
  EXPECT_EQ(listener_->Handle({"GET", std::string(kListenPath), {}, ""}).status, 405);
}

}  // namespace
}  // namespace local::daemon
