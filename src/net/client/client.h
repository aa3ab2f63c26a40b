// A blocking HTTP/1.1 client with keep-alive, on a Unix socket (the command line's way to the
// embedded cluster, there in well under a millisecond) or over plain TCP.
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

// The whole body of an answer to Send; Open has no limit. A list of a hundred thousand pods takes
// some 400 MB.
inline constexpr size_t kMaxResponseBytes = 1 << 30;

// The body of an answer that has not ended.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // The next bytes, nothing at the end. Blocks. kCancelled after Cancel(), kUnavailable when the
  // connection broke before the end.
  virtual base::Result<std::optional<std::string>> Read() = 0;
  // From any thread: a Read in progress returns.
  virtual void Cancel() = 0;
};

// What a server says to a request for another protocol.
struct UpgradeAnswer {
  int status = 0;
  Headers headers;
  std::string body;                    // of a refusal
  std::unique_ptr<ByteStream> stream;  // with status 101: what follows it
};

using ConnectedSocket = base::Result<std::unique_ptr<ClientSocket>>;
// A socket that is connected within the time given; called from any thread.
using SocketSource = std::function<ConnectedSocket(std::chrono::milliseconds timeout)>;

// Thread safe.
class HttpClient {
 public:
  // Does not connect yet. `timeout`: for each request until its answer is whole; with Open, until
  // its headers are.
  static std::unique_ptr<HttpClient> Unix(std::string socket_path,
                                          std::chrono::milliseconds timeout);
  // The same over TCP, unencrypted: `host` a name or an address. Requests name the host themselves.
  static std::unique_ptr<HttpClient> Tcp(std::string host, uint16_t port,
                                         std::chrono::milliseconds timeout);
  // The same over sockets of the caller's.
  static std::unique_ptr<HttpClient> Over(SocketSource connect, std::chrono::milliseconds timeout);
  virtual ~HttpClient() = default;
  // kUnavailable when nobody listens, kTimeout. A request on a kept connection that turns out to be
  // closed is sent once more on a new one (only if no byte of an answer came).
  virtual base::Result<HttpResponse> Send(const HttpRequest& request) = 0;
  // At once, each on a connection of its own, some tens at a time; answers in the order of the
  // requests.
  virtual std::vector<base::Result<HttpResponse>> SendAll(
      std::span<const HttpRequest> requests) = 0;
  // On a connection of its own; the headers have been read when it returns.
  virtual base::Result<std::unique_ptr<BodyStream>> Open(const HttpRequest& request) = 0;
  // On a connection of its own, with a request that has an Upgrade header. kUnavailable where the
  // client cannot.
  virtual base::Result<UpgradeAnswer> Upgrade(const HttpRequest& request);
};

}  // namespace net
