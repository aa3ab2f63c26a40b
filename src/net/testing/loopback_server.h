// For tests: a TCP server without a protocol.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "base/fd.h"

namespace net {

// Accepts on a port of its own, and hands one connection after another to `serve`, on a thread.
class LoopbackServer {
 public:
  explicit LoopbackServer(std::function<void(base::Fd)> serve)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), generic, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this, serve = std::move(serve)] {
      while (true) {
        base::Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!peer) return;
        serve(std::move(peer));
      }
    });
  }
  ~LoopbackServer() { ::shutdown(listener_.get(), SHUT_RDWR); }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  std::string authority() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  base::Fd listener_;
  uint16_t port_ = 0;
  std::jthread thread_;  // last: it uses the above
};

}  // namespace net
