#include "net/http/server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "base/fd.h"
#include "base/log.h"
#include "net/http/server_connection.h"
#include "net/socket/tcp.h"
#include "net/socket/unix.h"

namespace net {
namespace {

namespace asio = boost::asio;
using AsioError = boost::system::error_code;
using Descriptor = asio::posix::stream_descriptor;

// How many connections are accepted before others are served.
constexpr int kAcceptBurst = 64;

class Server final : public HttpServer {
 public:
  Server(std::string path, struct stat file, base::Fd listener, HttpHandler handler,
         HttpServerOptions options)
      : path_(std::move(path)),
        file_(file),
        loop_(std::make_shared<ServerLoop>(std::move(handler), options)),
        work_(loop_->io.get_executor()),
        port_(LocalPort(listener.get())),
        listener_(loop_->io),
        timer_(loop_->io) {
    if (!listener) return;
    listener_.assign(listener.get());
    listener.Release();  // listener_ owns it
  }
  ~Server() override;

  void Run() override {
    WaitAccept();
    loop_->io.run();
  }
  void Stop() override {
    asio::post(loop_->io, [this] { StopHere(); });
  }
  base::Status ListenAt(const std::string& path) override;
  uint16_t port() const override { return port_; }
  void Post(std::function<void()> task) override { asio::post(loop_->io, std::move(task)); }
  void Adopt(base::Fd socket, std::shared_ptr<const HttpHandler> handler) override {
    asio::post(loop_->io,
               [this, socket = std::move(socket), handler = std::move(handler)]() mutable {
                 if (!is_stopping_) Serve(std::move(socket), std::move(handler), true);
               });
  }

 private:
  void WaitAccept();
  void Accept();
  void Admit(base::Fd fd);
  void Serve(base::Fd fd, std::shared_ptr<const HttpHandler> handler, bool is_guest);
  void StopHere();
  void ForEachConnection(void (ServerConnection::*act)());

  std::string path_;  // "" for TCP, or if there is no socket
  struct stat file_;
  // Streams that producers still hold refer to the loop weakly.
  const std::shared_ptr<ServerLoop> loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  const uint16_t port_;
  Descriptor listener_;
  asio::steady_timer timer_;
  bool is_stopping_ = false;
  bool is_accept_failing_ = false;
};

Server::~Server() {
  // A producer's thread may be the last to release the loop; the handler must not outlive us.
  loop_->handler = nullptr;
  if (path_.empty()) return;
  struct stat now{};
  if (::lstat(path_.c_str(), &now) != 0) return;
  // A successor's socket may have been given the same inode number.
  const bool is_ours = now.st_dev == file_.st_dev && now.st_ino == file_.st_ino &&
                       now.st_ctim.tv_sec == file_.st_ctim.tv_sec &&
                       now.st_ctim.tv_nsec == file_.st_ctim.tv_nsec;
  if (is_ours) ::unlink(path_.c_str());
}

base::Result<struct stat> StatSocket(const std::string& path) {
  struct stat file{};
  if (::lstat(path.c_str(), &file) == 0) return file;
  return base::Fail(base::Errno(errno, "socket \"" + path + "\""));
}

base::Status Server::ListenAt(const std::string& path) {
  TRY_ASSIGN(base::Fd listener, ListenOnUnixPath(path));
  TRY_ASSIGN(const struct stat file, StatSocket(path));
  asio::post(loop_->io, [this, path, file, listener = std::move(listener)]() mutable {
    path_ = path;
    file_ = file;
    if (is_stopping_) return;
    AsioError ignored;
    listener_.close(ignored);
    listener_.assign(listener.Release());
    WaitAccept();
  });
  return {};
}

void Server::WaitAccept() {
  if (is_stopping_ || !listener_.is_open()) return;
  listener_.async_wait(Descriptor::wait_read, [this](AsioError error) {
    if (!error && !is_stopping_) Accept();
  });
}

void Server::Accept() {
  for (int i = 0; i < kAcceptBurst; ++i) {
    base::Fd fd(
        ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) {
      is_accept_failing_ = false;
      Admit(std::move(fd));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) break;
    if (!std::exchange(is_accept_failing_, true)) {
      base::LogWarn("{}", base::Errno(errno, "accept").message);
    }
    timer_.expires_after(kAcceptPause);
    timer_.async_wait([this](AsioError error) {
      if (!error) WaitAccept();
    });
    return;
  }
  WaitAccept();
}

void Server::Admit(base::Fd fd) {
  if (!path_.empty()) {
    const base::Result<uid_t> peer = PeerUid(fd.get());
    if (!peer || !IsTrustedPeer(*peer)) return;
  }
  Serve(std::move(fd), nullptr, path_.empty());
}

void Server::Serve(base::Fd fd, std::shared_ptr<const HttpHandler> handler, bool is_guest) {
  const size_t most = loop_->options.max_connections;
  if (loop_->connections.size() >= most) return;
  if (is_guest && !path_.empty() && loop_->guests >= most / 2) return;
  auto connection = std::make_shared<ServerConnection>(loop_, std::move(handler), is_guest);
  loop_->connections.insert(connection);
  if (is_guest) ++loop_->guests;
  connection->Begin(std::move(fd));
}

void Server::StopHere() {
  if (std::exchange(is_stopping_, true)) return;
  AsioError ignored;
  listener_.close(ignored);
  timer_.expires_after(loop_->options.drain_timeout);
  timer_.async_wait([this](AsioError error) {
    if (!error) ForEachConnection(&ServerConnection::Close);
  });
  loop_->on_last_gone = [this] {
    timer_.cancel();
    work_.reset();
  };
  if (loop_->connections.empty()) return loop_->on_last_gone();
  ForEachConnection(&ServerConnection::Drain);
}

void Server::ForEachConnection(void (ServerConnection::*act)()) {
  const auto connections = loop_->connections;  // Close() removes from it
  for (const auto& connection : connections) (connection.get()->*act)();
}

base::Result<std::unique_ptr<HttpServer>> MakeServer(const std::string& path,
                                                     const struct stat& file, base::Fd listener,
                                                     HttpHandler handler,
                                                     HttpServerOptions options) {
  try {
    return std::make_unique<Server>(path, file, std::move(listener), std::move(handler), options);
  } catch (const boost::system::system_error& error) {
    return base::Fail(base::Code::kExhausted, std::string("event loop: ") + error.what());
  }
}

}  // namespace

base::Result<std::unique_ptr<HttpServer>> HttpServer::ListenUnix(const std::string& path,
                                                                 HttpHandler handler,
                                                                 HttpServerOptions options) {
  TRY_ASSIGN(base::Fd listener, ListenOnUnixPath(path));
  TRY_ASSIGN(const struct stat file, StatSocket(path));
  return MakeServer(path, file, std::move(listener), std::move(handler), options);
}

base::Result<std::unique_ptr<HttpServer>> HttpServer::ListenTcp(const std::string& host,
                                                                uint16_t port, HttpHandler handler,
                                                                HttpServerOptions options) {
  TRY_ASSIGN(base::Fd listener, ListenOnTcp(host, port));
  return MakeServer("", {}, std::move(listener), std::move(handler), options);
}

base::Result<std::unique_ptr<HttpServer>> HttpServer::OfAdopted(HttpHandler handler,
                                                                HttpServerOptions options) {
  return MakeServer("", {}, base::Fd(), std::move(handler), options);
}

}  // namespace net
