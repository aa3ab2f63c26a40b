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
  // Of a peer over TCP, or an adopted one: from the connection to the first byte, and from an
  // answer to the next request. Longer than clients keep idle connections (Go: 90 s).
  std::chrono::milliseconds first_byte_timeout{10'000};
  std::chrono::milliseconds idle_timeout{120'000};
  // How long Stop() lets complete answers flow out to peers that are slow to take them.
  std::chrono::milliseconds drain_timeout{2'000};
  // Connections beyond are closed at once. Half of them are kept for the Unix socket's peers.
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
  // Listens for plain TCP (see ListenOnTcp); whoever reaches it is served.
  static base::Result<std::unique_ptr<HttpServer>> ListenTcp(const std::string& host, uint16_t port,
                                                             HttpHandler handler,
                                                             HttpServerOptions options = {});
  // Listens nowhere: serves what Adopt is given.
  static base::Result<std::unique_ptr<HttpServer>> OfAdopted(HttpHandler handler,
                                                             HttpServerOptions options = {});
  // Not while Run() runs. Removes the socket file, if it is still this server's.
  virtual ~HttpServer() = default;

  // Listens on this Unix socket from now on, as ListenUnix does, and no more where it did: whose
  // socket file has vanished is found again. From any thread.
  virtual base::Status ListenAt(const std::string& path) = 0;
  // Of ListenTcp; 0 of a Unix socket.
  virtual uint16_t port() const = 0;
  // Serves a connection that somebody else has accepted, and vouches for, with a handler of its
  // own. From any thread; a connection too many is closed. `socket` must not block.
  virtual void Adopt(base::Fd socket, std::shared_ptr<const HttpHandler> handler) = 0;
  // Serves until Stop(). Blocks.
  virtual void Run() = 0;
  // From any thread, and from a signal-handling thread. Answers that are complete still reach
  // their peers; open streams break off, so that nobody takes them for complete.
  virtual void Stop() = 0;
  // Runs `task` on the server's thread; from any thread. Never after Run() has returned.
  virtual void Post(std::function<void()> task) = 0;
};

}  // namespace net
