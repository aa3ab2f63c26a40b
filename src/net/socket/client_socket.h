// A connected stream socket that never blocks, encrypted or not.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace net {

// nullopt: waits without limit.
using SocketDeadline = std::optional<std::chrono::steady_clock::time_point>;

// The result of one attempt to move bytes. Neither bytes nor wait_for: the peer has closed.
struct SocketStep {
  size_t bytes = 0;
  short wait_for = 0;  // POLLIN or POLLOUT: try again once fd() is ready for it
};

// One thread may receive while another sends.
class ClientSocket {
 public:
  virtual ~ClientSocket() = default;
  virtual int fd() const = 0;
  virtual base::Result<SocketStep> Receive(char* buffer, size_t size) = 0;
  // Sends some of `head`, then of `body`; one of them must not be empty. Pass what was not sent
  // again next time, unchanged.
  virtual base::Result<SocketStep> Send(std::string_view head, std::string_view body) = 0;
  // Whether the peer is connected and nothing unread has come from it.
  virtual bool IsIdle() const = 0;
};

// Takes over a connected socket.
std::unique_ptr<ClientSocket> PlainSocket(base::Fd fd);

// Waits until `fd` is ready for `events`. kCancelled if `cancel` (-1 for none) becomes readable
// first, kTimeout past the deadline.
base::Status AwaitSocket(int fd, short events, SocketDeadline deadline, int cancel = -1);

}  // namespace net
