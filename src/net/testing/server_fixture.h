// For tests: an HttpServer on a thread, in a directory of its own, and raw sockets to it.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/machine/unix_address.h"
#include "net/client/client.h"
#include "net/http/server.h"
#include "net/socket/unix.h"

namespace net {

// Longer than any test takes: reaching it is a failure.
inline constexpr std::chrono::seconds kTestPatience{60};

// A connection on which a test speaks HTTP by hand.
class RawPeer {
 public:
  explicit RawPeer(const std::string& path) {
    const auto address = base::UnixAddressOf(path);
    fd_.Reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_TRUE(address && ::connect(fd_.get(), address->get(), sizeof address->address) == 0);
  }
  // False when the server has closed.
  bool Send(std::string_view text) const {
    return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  // Reads until the text ends with `end`, or the server closes.
  std::string ReadUntil(std::string_view end) {
    std::string text;
    while (end.empty() || !text.ends_with(end)) {
      char buffer[4096];
      pollfd poll_fd{fd_.get(), POLLIN, 0};
      if (::poll(&poll_fd, 1, static_cast<int>(kTestPatience.count() * 1000)) != 1) break;
      const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (count <= 0) break;
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }
  std::string ReadToClose() { return ReadUntil(""); }
  void Close() { fd_.Reset(); }
  int fd() const { return fd_.get(); }

 private:
  base::Fd fd_;
};

class ServerFixture : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/muster-net-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    path_ = directory_ + "/s";
    client_ = HttpClient::Unix(path_, kTestPatience);
  }
  void TearDown() override {
    StopServer();
    EXPECT_TRUE(base::RemoveTree(directory_));
  }

  void Serve(HttpHandler handler, HttpServerOptions options = {}) {
    auto server = HttpServer::ListenUnix(path_, std::move(handler), options);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    thread_ = std::thread([this] { server_->Run(); });
  }
  void StopServer() {
    if (thread_.joinable()) {
      server_->Stop();
      thread_.join();
    }
    server_.reset();
  }

  std::string directory_;
  std::string path_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
  std::unique_ptr<HttpClient> client_;
};

}  // namespace net
