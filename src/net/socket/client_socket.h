// A connected stream socket that never blocks, with or without encryption on it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace net {

// nullopt waits for ever.
using SocketDeadline = std::optional<std::chrono::steady_clock::time_point>;

// What one try to move bytes came to. No bytes and nothing to wait for: the peer has closed.
struct SocketStep {
  size_t bytes = 0;
  short wait_for = 0;  // POLLIN or POLLOUT of fd(): try again then
};

// One thread may receive while another sends.
class ClientSocket {
 public:
  virtual ~ClientSocket() = default;
  virtual int fd() const = 0;
  virtual base::Result<SocketStep> Receive(char* buffer, size_t size) = 0;
  // Some of `head`, then of `body`; at least one of them holds a byte. What was not sent is given
  // again next time, unchanged.
  virtual base::Result<SocketStep> Send(std::string_view head, std::string_view body) = 0;
  // Whether the peer is there and has said nothing that was not received.
  virtual bool IsIdle() const = 0;
};

// Takes over a connected socket.
std::unique_ptr<ClientSocket> PlainSocket(base::Fd fd);

// Waits until `fd` is ready for `events`, or `cancel` (-1 is none) is readable: kCancelled then.
// kTimeout past the deadline.
base::Status AwaitSocket(int fd, short events, SocketDeadline deadline, int cancel = -1);

}  // namespace net
