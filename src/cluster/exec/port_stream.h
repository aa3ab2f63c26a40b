// A connection to a port of a pod: Kubernetes' port forwarding over a WebSocket
// (k8s.io/kubelet/pkg/cri/streaming/portforward). Each message begins with the number of its
// channel; each port has two, which begin with its number, two bytes, the low one first.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/websocket/client.h"

namespace cluster {

inline constexpr const char* kPortProtocol = "v4.channel.k8s.io";
// Of the n-th port that was asked for they are 2n and 2n + 1.
inline constexpr char kPortData = 0;
inline constexpr char kPortError = 1;
inline constexpr size_t kPortNumberBytes = 2;
inline constexpr size_t kMaxPortErrorBytes = 64 << 10;

// The bytes with which both channels of a port begin.
std::string PortNumber(uint16_t port);

// One port, one connection. Read from one thread; everything else from any. The protocol has no
// word for the end of what the client sends: that is the end of the connection.
class PortStream {
 public:
  explicit PortStream(std::unique_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {}

  // What the port says next; nullopt when it has closed. Blocks. kUnavailable when it cannot be
  // reached or the connection broke, kCancelled after Cancel.
  base::Result<std::optional<std::string>> Read();
  // Blocks while the port is slow to take it.
  base::Status Write(std::string_view bytes);
  // A Read or Write in progress, and every later one, fails.
  void Cancel() { socket_->Cancel(); }

 private:
  const std::unique_ptr<net::WebSocket> socket_;
  std::optional<char> channel_;          // of the message in hand
  std::array<size_t, 2> number_read_{};  // bytes of the port's number, of each channel
  std::string error_;
};

}  // namespace cluster
