// An event-driven HTTP/1.1 server on one thread (Boost.Beast inside).
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "net/http.h"

namespace net {

class HttpServer {
 public:
  // Listens on a Unix socket that only this user can reach: the directory must exist with mode
  // 0700; a stale socket file is replaced; peers of another uid (SO_PEERCRED) are refused.
  static base::Result<std::unique_ptr<HttpServer>> ListenUnix(const std::string& path,
                                                              HttpHandler handler);
  virtual ~HttpServer() = default;

  // Serves until Stop(). Blocks.
  virtual void Run() = 0;
  // From any thread, and from a signal-handling thread. Open streams end.
  virtual void Stop() = 0;
  // Runs `task` on the server's thread; from any thread.
  virtual void Post(std::function<void()> task) = 0;
};

}  // namespace net
