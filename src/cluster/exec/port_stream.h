// A connection to a port of a pod: Kubernetes' port forwarding over a WebSocket
// (k8s.io/kubelet/pkg/cri/streaming/portforward). Each message begins with the number of its
// channel. Each port has two channels, which begin with the port's number, two bytes, the low one
// first.
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
// For the n-th requested port they are 2n and 2n + 1.
inline constexpr char kPortData = 0;
inline constexpr char kPortError = 1;
inline constexpr size_t kPortNumberBytes = 2;
inline constexpr size_t kMaxPortErrorBytes = 64 << 10;

// The bytes with which both channels of a port begin.
std::string PortNumber(uint16_t port);

// One port, one connection. Read from one thread; everything else from any. The protocol cannot
// signal the end of the client's data except by ending the connection.
class PortStream {
 public:
  explicit PortStream(std::unique_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {}

  // The next data from the port; nullopt when it has closed. Blocks. kUnavailable when it cannot be
  // reached or the connection broke, kCancelled after Cancel.
  base::Result<std::optional<std::string>> Read();
  // Blocks while the port is slow to read.
  base::Status Write(std::string_view bytes);
  // Makes the current Read or Write, and all later ones, fail.
  void Cancel() { socket_->Cancel(); }

 private:
  const std::unique_ptr<net::WebSocket> socket_;
  std::optional<char> channel_;          // of the current message
  std::array<size_t, 2> number_read_{};  // bytes of the port's number read so far, per channel
  std::string error_;
};

}  // namespace cluster
