// A blocking HTTP/1.1 client with keep-alive, over a Unix socket (how the command line reaches the
// embedded cluster, in well under a millisecond) or plain TCP.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http/types.h"
#include "net/socket/byte_stream.h"
#include "net/socket/client_socket.h"

namespace net {

// The most that Send reads of an answer's body; Open has no limit. A list of 100,000 pods takes
// about 400 MB.
inline constexpr size_t kMaxResponseBytes = 1 << 30;

// The body of an answer, read as it comes.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // Blocks until there are bytes, and returns them; empty at the end. kCancelled after Cancel(),
  // kUnavailable if the connection broke before the end.
  virtual base::Result<std::optional<std::string>> Read() = 0;
  // For a server in this process: the values of some of the lines that Read has returned since the
  // last call, in order.
  virtual std::vector<ParsedLine> TakeParsed() { return {}; }
  // From any thread. A Read in progress returns.
  virtual void Cancel() = 0;
};

// A server's answer to a request for another protocol.
struct UpgradeAnswer {
  int status = 0;
  Headers headers;
  std::string body;                    // if it refused
  std::unique_ptr<ByteStream> stream;  // with status 101
};

using ConnectedSocket = base::Result<std::unique_ptr<ClientSocket>>;
// Connects a socket within the given time. Called from any thread.
using SocketSource = std::function<ConnectedSocket(std::chrono::milliseconds timeout)>;

// Thread safe.
class HttpClient {
 public:
  // Does not connect yet. `timeout` limits each request until its whole answer has come; for Open,
  // until the headers have.
  static std::unique_ptr<HttpClient> Unix(std::string socket_path,
                                          std::chrono::milliseconds timeout);
  // The same over TCP, unencrypted. `host` is a name or an address; each request sets its own Host.
  static std::unique_ptr<HttpClient> Tcp(std::string host, uint16_t port,
                                         std::chrono::milliseconds timeout);
  // The same over sockets that the caller connects.
  static std::unique_ptr<HttpClient> Over(SocketSource connect, std::chrono::milliseconds timeout);
  virtual ~HttpClient() = default;
  // kUnavailable if nobody listens, kTimeout. If a kept connection turns out to be closed before a
  // byte of an answer has come, the request is sent once more on a new one.
  virtual base::Result<HttpResponse> Send(const HttpRequest& request) = 0;
  // Sends a few dozen at a time, each on its own connection. The answers are in the order of the
  // requests.
  virtual std::vector<base::Result<HttpResponse>> SendAll(
      std::span<const HttpRequest> requests) = 0;
  // Uses a connection of its own, and returns once the headers have been read.
  virtual base::Result<std::unique_ptr<BodyStream>> Open(const HttpRequest& request) = 0;
  // Uses a connection of its own, with a request that has an Upgrade header. kUnavailable if this
  // client cannot upgrade.
  virtual base::Result<UpgradeAnswer> Upgrade(const HttpRequest& request);
};

}  // namespace net
