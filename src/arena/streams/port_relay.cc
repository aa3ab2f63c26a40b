#include "arena/streams/port_relay.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "net/socket/tcp.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kRelayReadBytes = 32 << 10;
constexpr size_t kMaxRelays = 256;
// A client that has sent everything may be waiting for an answer, or be gone; the protocol cannot
// notify the pod. Silence for this long means gone.
constexpr std::chrono::seconds kAnswerWait{10};

// Errors that another connection cannot avoid.
bool IsForGood(const base::Error& error) {
  switch (error.code) {
    case Code::kNotFound:
    case Code::kInvalidArgument:
    case Code::kPermissionDenied:
    case Code::kUnauthenticated:
      return true;
    default:
      return false;
  }
}

// One connection: the thread that connects and copies the pod's data, and one for the other
// direction.
class Relay {
 public:
  using Ended = std::function<void(const base::Result<void>&)>;

  Relay(base::Fd local, uint16_t remote, const DialPort& dial, Ended ended)
      : local_(std::move(local)), thread_([this, remote, &dial, ended = std::move(ended)] {
          const base::Status carried = Carry(remote, dial);
          ended(carried);
          is_over_ = true;
        }) {}
  ~Relay() {
    ::shutdown(local_.get(), SHUT_RDWR);
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    if (stream_) stream_->Cancel();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  bool is_over() const { return is_over_; }

 private:
  base::Status Carry(uint16_t remote, const DialPort& dial) {
    auto stream = dial(remote);
    if (!stream) return Fail(std::move(stream.error()));
    {
      const std::lock_guard lock(mutex_);
      if (is_stopped_) return {};
      stream_ = std::move(*stream);
    }
    const std::jthread up([this] { CarryUp(); });
    const base::Status down = CarryDown();
    {
      const std::lock_guard lock(mutex_);
      is_down_over_ = true;
      changed_.notify_all();
    }
    ::shutdown(local_.get(), SHUT_RDWR);
    stream_->Cancel();
    return down;
  }

  base::Status CarryDown() {
    while (true) {
      auto bytes = stream_->Read();
      if (!bytes) {
        if (bytes.error().code == Code::kCancelled) return {};
        return Fail(std::move(bytes.error()));
      }
      if (!*bytes) return {};
      ++answers_;
      std::string_view left = **bytes;
      while (!left.empty()) {
        const ssize_t count = ::send(local_.get(), left.data(), left.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return {};  // the client has gone
        left.remove_prefix(static_cast<size_t>(count));
      }
    }
  }

  void CarryUp() {
    std::string bytes(kRelayReadBytes, '\0');
    while (true) {
      const ssize_t count = ::recv(local_.get(), bytes.data(), bytes.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return stream_->Cancel();
      if (count == 0) return AwaitAnswer();
      if (!stream_->Write({bytes.data(), static_cast<size_t>(count)})) return;
    }
  }

  void AwaitAnswer() {
    std::unique_lock lock(mutex_);
    int64_t before = -1;
    while (!is_down_over_ && before != answers_) {
      before = answers_;
      changed_.wait_for(lock, kAnswerWait, [this] { return is_down_over_; });
    }
    stream_->Cancel();
  }

  const base::Fd local_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;
  bool is_down_over_ = false;
  std::unique_ptr<cluster::PortStream> stream_;  // set once
  std::atomic<int64_t> answers_ = 0;
  std::atomic<bool> is_over_ = false;
  std::jthread thread_;  // last: it uses the members above
};

base::Result<base::Fd> ListenAt(const std::string& host, uint16_t port) {
  auto fd = net::ListenOnTcp(host, port);
  if (!fd && fd.error().code == Code::kAlreadyExists) {
    return Fail(Code::kAlreadyExists,
                fmt::format("port {} is in use here: name another, as in {}:REMOTE, or :REMOTE for "
                            "any that is free",
                            port, port + 1));
  }
  return fd;
}

}  // namespace

base::Result<PortPair> ParsePortPair(std::string_view text) {
  const auto wrong = [&] {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("\"{}\" is not a port: write REMOTE, LOCAL:REMOTE or :REMOTE, each of 1 to "
                    "65535",
                    text));
  };
  const auto parse = [](std::string_view number) -> std::optional<uint16_t> {
    const auto port = base::ParseInt(number);
    if (!port || *port < 1 || *port > UINT16_MAX) return std::nullopt;
    return static_cast<uint16_t>(*port);
  };
  const size_t colon = text.find(':');
  const auto remote = parse(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (!remote) return wrong();
  if (colon == std::string_view::npos) return PortPair{*remote, *remote};
  if (colon == 0) return PortPair{0, *remote};
  const auto local = parse(text.substr(0, colon));
  if (!local) return wrong();
  return PortPair{*local, *remote};
}

base::Result<std::vector<PortListener>> ListenForPorts(const std::vector<std::string>& addresses,
                                                       const std::vector<PortPair>& pairs) {
  std::vector<PortListener> listeners;
  for (const PortPair& pair : pairs) {
    for (const std::string& address : addresses) {
      const bool is_localhost = address == "localhost";
      const std::string host = is_localhost ? "127.0.0.1" : address;
      TRY_ASSIGN(base::Fd fd, ListenAt(host, pair.local));
      const uint16_t port = net::LocalPort(fd.get());
      const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
      listeners.push_back({std::move(fd), fmt::format("{}:{}", shown, port), pair.remote});
      if (!is_localhost) continue;
      if (auto other = net::ListenOnTcp("::1", port)) {
        listeners.push_back({std::move(*other), fmt::format("[::1]:{}", port), pair.remote});
      }
    }
  }
  return listeners;
}

base::Error RelayPorts(const std::vector<PortListener>& listeners, const DialPort& dial,
                       const PortReports& reports) {
  const base::Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return base::Errno(errno, "eventfd");
  std::mutex mutex;
  std::optional<base::Error> fatal;
  std::list<Relay> relays;
  const auto ended = [&](uint16_t remote, const base::Status& carried) {
    if (carried) return;
    const std::lock_guard lock(mutex);
    if (!IsForGood(carried.error())) return reports.failed(remote, carried.error());
    if (!fatal) fatal = carried.error();
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(stop.get(), &one, sizeof one);
  };
  std::vector<pollfd> fds{{stop.get(), POLLIN, 0}};
  for (const PortListener& listener : listeners) fds.push_back({listener.fd.get(), POLLIN, 0});
  while (true) {
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return base::Errno(errno, "poll");
    if (fds[0].revents != 0) break;
    relays.remove_if([](const Relay& relay) { return relay.is_over(); });
    for (size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents == 0) continue;
      base::Fd local(::accept4(fds[i].fd, nullptr, nullptr, SOCK_CLOEXEC));
      if (!local) continue;  // the client has gone again
      const uint16_t remote = listeners[i - 1].remote;
      const std::lock_guard lock(mutex);
      if (relays.size() >= kMaxRelays) {
        reports.failed(remote, {Code::kExhausted, "too many connections at once", 0});
        continue;
      }
      reports.opened(remote);
      relays.emplace_back(std::move(local), remote, dial,
                          [&ended, remote](const base::Status& end) { ended(remote, end); });
    }
  }
  relays.clear();
  return *fatal;
}

}  // namespace arena
