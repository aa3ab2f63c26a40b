// An event-driven HTTP/1.1 server on one thread (Boost.Asio and Beast inside).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "net/http/types.h"

namespace net {

struct HttpServerOptions {
  // From a request's first byte to its last.
  std::chrono::milliseconds request_timeout{30'000};
  // For connections over TCP and adopted ones: until the first byte, and between an answer and the
  // next request. Longer than clients keep idle connections (Go: 90 s).
  std::chrono::milliseconds first_byte_timeout{10'000};
  std::chrono::milliseconds idle_timeout{120'000};
  // How long Stop() waits for slow peers to take answers that are complete.
  std::chrono::milliseconds drain_timeout{2'000};
  // More connections are closed at once. Half of them are reserved for the Unix socket.
  size_t max_connections = 8192;
};

class HttpServer {
 public:
  // Listens on a Unix socket that only this user can reach: the directory must exist with mode
  // 0700; a stale socket file is replaced; peers of another uid (SO_PEERCRED) are refused.
  // kAlreadyExists when another server answers there.
  static base::Result<std::unique_ptr<HttpServer>> ListenUnix(const std::string& path,
                                                              HttpHandler handler,
                                                              HttpServerOptions options = {});
  // Listens for plain TCP (see ListenOnTcp), and serves everyone who connects.
  static base::Result<std::unique_ptr<HttpServer>> ListenTcp(const std::string& host, uint16_t port,
                                                             HttpHandler handler,
                                                             HttpServerOptions options = {});
  // Does not listen: serves the connections that Adopt is given.
  static base::Result<std::unique_ptr<HttpServer>> OfAdopted(HttpHandler handler,
                                                             HttpServerOptions options = {});
  // Not while Run() runs. Removes the socket file, if it is still this server's.
  virtual ~HttpServer() = default;

  // Listens on this Unix socket instead of the former one, as ListenUnix does, so that a server
  // whose socket file has vanished can be found again. From any thread.
  virtual base::Status ListenAt(const std::string& path) = 0;
  // ListenTcp's port; 0 for a Unix socket.
  virtual uint16_t port() const = 0;
  // Serves a connection that the caller has accepted and trusts, with a handler of its own. From
  // any thread; closes it if there are too many connections. `socket` must be non-blocking.
  virtual void Adopt(base::Fd socket, std::shared_ptr<const HttpHandler> handler) = 0;
  // Serves until Stop(). Blocks.
  virtual void Run() = 0;
  // From any thread, including one that handles signals. Answers that are complete still reach
  // their peers; open streams are broken off, so that no peer takes them for complete.
  virtual void Stop() = 0;
  // Runs `task` on the server's thread. From any thread; has no effect once Run() has returned.
  virtual void Post(std::function<void()> task) = 0;
};

}  // namespace net
