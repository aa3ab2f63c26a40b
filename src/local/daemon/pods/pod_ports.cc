#include "local/daemon/pods/pod_ports.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "process/event_loop.h"

namespace local::daemon {
namespace {

constexpr size_t kPortReadBytes = 32 << 10;
constexpr int kPortReadsPerTurn = 8;
// A port waits while its client is this far behind.
constexpr size_t kMaxPendingFromPort = 1 << 20;
constexpr size_t kResumePort = 256 << 10;

// A socket that is connected, or connecting, to this machine's loopback address of that family.
base::Result<base::Fd> BeginToConnect(int family, uint16_t port) {
  base::Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  const bool is_v4 = family == AF_INET;
  const auto* const address =
      is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  const socklen_t size = is_v4 ? sizeof v4 : sizeof v6;
  if (::connect(fd.get(), address, size) == 0 || errno == EINPROGRESS) return fd;
  return base::Fail(base::Errno(errno, "connect"));
}

}  // namespace

struct PodPorts::Core {
  std::unique_ptr<process::EventLoop> loop;
  std::set<std::shared_ptr<Connection>> connections{};  // used in the loop's thread
};

// Used in the loop's thread, except for the methods of OpenPort. The core keeps it alive until it
// has finished or was hung up.
class PodPorts::Connection final : public server::OpenPort,
                                   public std::enable_shared_from_this<Connection> {
 public:
  Connection(const std::shared_ptr<Core>& core, uint16_t port,
             std::shared_ptr<server::PortSink> sink)
      : weak_core_(core),
        core_(*core),
        loop_(core->loop.get()),
        port_(port),
        sink_(std::move(sink)) {}

  void Begin() {
    Post([](Connection& self) {
      self.core_.connections.insert(self.shared_from_this());
      self.Connect(AF_INET);
    });
  }
  void Write(std::string bytes) override {
    Post([bytes = std::move(bytes)](Connection& self) mutable {
      self.unwritten_.push_back(std::move(bytes));
      if (self.is_connected_) self.Flush();
    });
  }
  void EndWrites() override {
    Post([](Connection& self) {
      self.has_writes_ended_ = true;
      if (self.is_connected_) self.Flush();
    });
  }
  void HangUp() override {
    Post([](Connection& self) { self.Leave(); });
  }
  void Leave();

 private:
  void Post(std::function<void(Connection&)> task) {
    const auto core = weak_core_.lock();
    if (!core) return;
    core->loop->Post([self = shared_from_this(), task = std::move(task)] {
      if (self->sink_) task(*self);
    });
  }

  void Connect(int family);
  void OnConnected(int family);
  void Refused(int family, int os_errno);
  void Watch();
  void OnEvent(uint32_t events);
  void Flush();
  void Read();
  void Finish(const std::string& error);

  const std::weak_ptr<Core> weak_core_;
  Core& core_;  // used in the loop's thread, like the members below
  process::EventLoop* const loop_;
  const uint16_t port_;
  std::shared_ptr<server::PortSink> sink_;  // null: it has ended
  base::Fd fd_;
  bool is_connected_ = false;
  bool is_paused_ = false;  // the client is behind
  bool is_full_ = false;    // the port is behind
  std::deque<std::string> unwritten_;
  size_t written_ = 0;  // of the first chunk
  bool has_writes_ended_ = false;
};

void PodPorts::Connection::Connect(int family) {
  auto fd = BeginToConnect(family, port_);
  if (!fd) return Refused(family, fd.error().os_errno);
  fd_ = std::move(*fd);
  const auto watched =
      loop_->Watch(fd_.get(), EPOLLOUT, [this, family](uint32_t) { OnConnected(family); });
  if (!watched) Finish(watched.error().message);
}

void PodPorts::Connection::OnConnected(int family) {
  int reason = 0;
  socklen_t size = sizeof reason;
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &reason, &size) != 0) reason = errno;
  if (reason != 0) return Refused(family, reason);
  is_connected_ = true;
  Flush();
  if (sink_) Watch();
}

// A server may listen on either loopback address of the machine.
void PodPorts::Connection::Refused(int family, int os_errno) {
  if (fd_) loop_->Unwatch(fd_.get());
  fd_.Reset();
  if (family == AF_INET) return Connect(AF_INET6);
  const int reason =
      os_errno == EADDRNOTAVAIL || os_errno == EAFNOSUPPORT ? ECONNREFUSED : os_errno;
  Finish(fmt::format("nothing listens on port {}: {}", port_, std::strerror(reason)));
}

void PodPorts::Connection::Watch() {
  const uint32_t events = (is_paused_ ? 0U : static_cast<uint32_t>(EPOLLIN)) |
                          (is_full_ ? static_cast<uint32_t>(EPOLLOUT) : 0U);
  if (events == 0) return loop_->Unwatch(fd_.get());
  const auto watched = loop_->Watch(fd_.get(), events, [this](uint32_t ready) { OnEvent(ready); });
  if (!watched) Finish(watched.error().message);
}

void PodPorts::Connection::OnEvent(uint32_t events) {
  if ((events & EPOLLOUT) != 0 && is_full_) Flush();
  if (sink_ && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !is_paused_) Read();
}

void PodPorts::Connection::Flush() {
  while (!unwritten_.empty()) {
    const std::string& bytes = unwritten_.front();
    const ssize_t count = ::send(fd_.get(), bytes.data() + written_, bytes.size() - written_,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      if (!std::exchange(is_full_, true)) Watch();
      return;
    }
    if (count < 0) return Finish("");  // the port has closed
    written_ += static_cast<size_t>(count);
    sink_->Used(static_cast<size_t>(count));
    if (written_ < bytes.size()) continue;
    unwritten_.pop_front();
    written_ = 0;
  }
  if (has_writes_ended_) ::shutdown(fd_.get(), SHUT_WR);
  if (std::exchange(is_full_, false)) Watch();
}

void PodPorts::Connection::Read() {
  for (int i = 0; i < kPortReadsPerTurn; ++i) {
    if (sink_->PendingBytes() > kMaxPendingFromPort) {
      is_paused_ = true;
      Watch();
      return sink_->WhenTaken(kResumePort, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->Post([](Connection& connection) {
          connection.is_paused_ = false;
          connection.Watch();
        });
      });
    }
    std::string bytes(kPortReadBytes, '\0');
    const ssize_t count = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return Finish("");
    bytes.resize(static_cast<size_t>(count));
    sink_->Write(std::move(bytes));
  }
}

void PodPorts::Connection::Finish(const std::string& error) {
  const auto sink = sink_;
  Leave();
  if (sink) sink->Finish(error);
}

void PodPorts::Connection::Leave() {
  // The running callback still has to return.
  loop_->Post([self = shared_from_this()] {});
  core_.connections.erase(shared_from_this());
  if (fd_) loop_->Unwatch(fd_.get());
  fd_.Reset();
  size_t dropped = 0;
  for (const std::string& bytes : unwritten_) dropped += bytes.size();
  if (sink_ && dropped > written_) sink_->Used(dropped - written_);
  unwritten_.clear();
  written_ = 0;
  sink_.reset();
}

PodPorts::PodPorts(std::shared_ptr<Core> core)
    : core_(std::move(core)), thread_([this] {
        ::pthread_setname_np(::pthread_self(), "ports");
        if (const base::Status ran = core_->loop->Run(); !ran) {
          base::LogError("{}", ran.error().message);
        }
      }) {}

base::Result<std::unique_ptr<PodPorts>> PodPorts::Start() {
  auto core = std::make_shared<Core>();
  TRY_ASSIGN(core->loop, process::EventLoop::Create(base::SystemClock()));
  return std::unique_ptr<PodPorts>(new PodPorts(std::move(core)));
}

PodPorts::~PodPorts() {
  core_->loop->Stop();
  thread_.join();
  for (const auto& connection : std::set(core_->connections)) connection->Leave();
}

std::shared_ptr<server::OpenPort> PodPorts::Open(uint16_t port,
                                                 std::shared_ptr<server::PortSink> sink) {
  auto connection = std::make_shared<Connection>(core_, port, std::move(sink));
  connection->Begin();
  return connection;
}

}  // namespace local::daemon
