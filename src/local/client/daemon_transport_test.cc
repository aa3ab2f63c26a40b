#include "local/client/daemon_transport.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <thread>
#include <vector>

#include "api/write_id.h"
#include "base/file.h"
#include "base/guarded.h"
#include "net/http/server.h"

namespace local::daemon {
namespace {

class DaemonTransportTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/muster-transport-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    options_.ensure = [this]() -> base::Result<DaemonRecord> {
      ++ensured_;
      return base::Fail(base::Code::kUnavailable, "no daemon to be had");
    };
    options_.warn = [](std::string_view) {};
  }
  void TearDown() override {
    Stop();
    EXPECT_TRUE(base::RemoveTree(folder_));
  }

  // A daemon's socket whose requests `handler` answers.
  DaemonRecord Serve(const std::string& name, net::HttpHandler handler) {
    Stop();
    auto server = net::HttpServer::ListenUnix(folder_ + "/" + name, std::move(handler));
    EXPECT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    thread_ = std::thread([this] { server_->Run(); });
    return {getpid(), "", {}, folder_ + "/" + name};
  }
  void Stop() {
    if (!server_) return;
    server_->Stop();
    thread_.join();
    server_.reset();
  }
  std::unique_ptr<cluster::Transport> To(DaemonRecord daemon) {
    return DaemonTransport(std::move(daemon), std::move(options_));
  }

  std::string folder_;
  TransportOptions options_;
  int ensured_ = 0;
  std::unique_ptr<net::HttpServer> server_;
  std::thread thread_;
};

TEST_F(DaemonTransportTest, SendsAWriteOnceMoreUnderItsId) {
  base::Guarded<std::vector<std::string>> ids;
  const DaemonRecord daemon = Serve("a", [&](const net::HttpRequest& request, auto responder) {
    auto seen = ids.Lock();
    seen->emplace_back(net::FindHeader(request.headers, api::kWriteIdHeader));
    if (seen->size() == 1) return responder->Start(200, {});  // and breaks the connection
    responder->Send({201, {}, "made"});
  });
  const auto transport = To(daemon);
  const auto made = transport->Send({"POST", "/", {}, "{}"});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->body, "made");
  ASSERT_TRUE(transport->Send({"POST", "/", {}, "{}"}));
  ASSERT_TRUE(transport->Send({"GET", "/", {}, ""}));
  const auto seen = *ids.Lock();
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_FALSE(seen[0].empty());
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[1], seen[2]);
  EXPECT_EQ(seen[3], "");
}

TEST_F(DaemonTransportTest, GoesOnWithTheNextDaemonWhereverItListens) {
  const auto answer = [](const net::HttpRequest&, auto responder) { responder->Send({}); };
  const DaemonRecord first = Serve("a", answer);
  options_.ensure = [&]() -> base::Result<DaemonRecord> { return Serve("b", answer); };
  const auto transport = To(first);
  ASSERT_TRUE(transport->Send({"GET", "/", {}, ""}));
  Stop();
  EXPECT_TRUE(transport->Send({"POST", "/", {}, ""}));
  EXPECT_TRUE(transport->Open({"GET", "/", {}, ""}));
}

TEST_F(DaemonTransportTest, ThatThereIsNoDaemonIsAskedOnceAndSaidAsItIs) {
  const auto transport = To({getpid(), "", {}, folder_ + "/none"});
  const auto answer = transport->Send({"GET", "/", {}, ""});
  EXPECT_EQ(answer.error().message, "no daemon to be had");
  EXPECT_EQ(ensured_, 1);
}

TEST_F(DaemonTransportTest, SaysOnceThatTheDaemonIsSilentAndWhatToDo) {
  std::promise<std::string> said;
  options_.silence = std::chrono::milliseconds(1);
  options_.warn = [&](std::string_view words) { said.set_value(std::string(words)); };
  auto heard = said.get_future().share();
  const DaemonRecord daemon = Serve("a", [&](const net::HttpRequest&, auto responder) {
    heard.wait();  // as a daemon that hangs
    responder->Send({});
  });
  const auto transport = To(daemon);
  EXPECT_TRUE(transport->Send({"GET", "/", {}, ""}));
  EXPECT_TRUE(transport->Send({"GET", "/", {}, ""}));
  EXPECT_NE(heard.get().find("kill -9 " + std::to_string(getpid())), std::string::npos);
  EXPECT_NE(heard.get().find("muster down --force"), std::string::npos);
}

TEST_F(DaemonTransportTest, WhatIsNotAnsweredInTimeComesWithAdvice) {
  std::promise<void> over;
  options_.timeout = std::chrono::seconds(0);
  const DaemonRecord daemon = Serve("a", [&](const net::HttpRequest&, auto responder) {
    over.get_future().wait();
    responder->Send({});
  });
  const auto answer = To(daemon)->Send({"GET", "/x", {}, ""});
  over.set_value();
  Stop();
  EXPECT_EQ(answer.error().code, base::Code::kTimeout);
  EXPECT_NE(answer.error().message.find("GET /x"), std::string::npos);
  EXPECT_NE(answer.error().message.find("down --force"), std::string::npos);
}

}  // namespace
}  // namespace local::daemon
