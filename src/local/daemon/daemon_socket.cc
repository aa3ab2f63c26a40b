#include "local/daemon/daemon_socket.h"

#include <chrono>
#include <thread>

#include "base/clock.h"

namespace local::daemon {
namespace {

constexpr std::chrono::milliseconds kPause{20};
constexpr std::chrono::seconds kLongestEnd{3};

}  // namespace

base::Result<std::unique_ptr<net::HttpServer>> ListenOnSocket(const std::string& path,
                                                              const net::HttpHandler& handler) {
  auto server = net::HttpServer::ListenUnix(path, handler);
  for (base::Duration waited{}; waited < kLongestEnd && !server; waited += kPause) {
    if (server.error().code != base::Code::kAlreadyExists) break;
    std::this_thread::sleep_for(kPause);
    server = net::HttpServer::ListenUnix(path, handler);
  }
  return server;
}

}  // namespace local::daemon
