#include "net/http_server.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>

#include "base/file.h"
#include "net/http_client.h"

namespace net {
namespace {

class HttpServerTest : public testing::Test {
 protected:
  void Serve(HttpHandler handler, HttpServerOptions options = {}) {
    auto server = HttpServer::ListenUnix(path_, std::move(handler), options);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    thread_ = std::thread([this] { server_->Run(); });
    client_ = HttpClient::Unix(path_, std::chrono::seconds(30));
  }
  void SetUp() override {
    char name[] = "/tmp/muster-net-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    path_ = directory_ + "/s";
  }
  void TearDown() override {
    if (thread_.joinable()) {
      server_->Stop();
      thread_.join();
    }
    server_.reset();
    EXPECT_TRUE(base::RemoveTree(directory_));
  }

  std::string directory_;
  std::string path_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  Serve([](HttpRequest request, std::shared_ptr<Responder> responder) {
    responder->Send({201, {{"X-Target", request.target}}, request.method + request.body});
  });
  for (int i = 0; i < 3; ++i) {
    const auto response = client_->Send({"POST", "/a?b=c", {}, "body"});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, "POSTbody");
    EXPECT_EQ(FindHeader(response->headers, "x-target"), "/a?b=c");
  }
}

}  // namespace
}  // namespace net
