#include "rendezvous/sockets/connector.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "base/block_signals.h"
#include "base/guarded.h"
#include "base/machine/ip_address.h"
#include "rendezvous/sockets/listener.h"
#include "rendezvous/sockets/resolve.h"

namespace rendezvous {
namespace {

base::Result<base::Fd> ConnectToAddress(base::Clock& clock, const std::string& address,
                                        uint16_t port,
                                        std::chrono::steady_clock::time_point deadline) {
  const std::string where = Endpoint{address, port}.ToString();
  const auto numeric = base::ParseIpAddress(address);
  if (!numeric) return base::Fail(base::Code::kInvalidArgument, where + ": not a numeric address");
  const base::SocketAddress to(*numeric, port);
  base::Fd fd(::socket(to.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::Fail(base::Errno(errno, where + ": socket"));
  const int yes = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (::connect(fd.get(), to.get(), to.size) == 0) return fd;
  if (errno != EINPROGRESS) return base::Fail(base::Errno(errno, where));
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.Steady());
    pollfd ready{fd.get(), POLLOUT, 0};
    const int count = left.count() <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left.count()));
    if (count == 0) return base::Fail(base::Code::kTimeout, where + ": no answer");
    if (count > 0) break;
    if (errno != EINTR) return base::Fail(base::Errno(errno, where + ": poll"));
  }
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return base::Fail(base::Errno(error, where));
  return fd;
}

base::Result<Connected> ConnectTo(base::Clock& clock, const std::string& host, uint16_t port,
                                  base::Duration timeout) {
  const auto deadline = clock.Steady() + timeout;
  TRY_ASSIGN(const std::vector<std::string> addresses, Resolve(host));
  return ConnectToAny(clock, addresses, port,
                      std::chrono::duration_cast<base::Duration>(deadline - clock.Steady()));
}

}  // namespace

base::Result<Connected> ConnectToAny(base::Clock& clock, const std::vector<std::string>& addresses,
                                     uint16_t port, base::Duration timeout) {
  const auto deadline = clock.Steady() + timeout;
  base::Error last{base::Code::kNotFound, "no address is known", 0};
  for (size_t i = 0; i < addresses.size(); ++i) {
    const auto now = clock.Steady();
    const auto share = (deadline - now) / static_cast<int64_t>(addresses.size() - i);
    base::Result<base::Fd> fd = ConnectToAddress(clock, addresses[i], port, now + share);
    if (fd) return Connected{std::move(*fd), i == 0 ? "" : addresses[i]};
    last = fd.error();
  }
  return base::Fail(last);
}

struct Connector::Shared {
  struct State {
    process::EventLoop* loop = nullptr;  // null once the result is no longer wanted
  };
  base::Guarded<State> state;
  Done done;
};

Connector::Connector(process::EventLoop& loop, base::Clock& clock, const std::string& host,
                     uint16_t port, base::Duration timeout, Done done)
    : shared_(std::make_shared<Shared>()) {
  shared_->done = std::move(done);
  shared_->state.Lock()->loop = &loop;
  const base::BlockSignals in_the_thread;
  std::thread([shared = shared_, &clock, host, port, timeout] {
    const auto made =
        std::make_shared<base::Result<Connected>>(ConnectTo(clock, host, port, timeout));
    auto state = shared->state.Lock();
    if (state->loop == nullptr) return;
    state->loop->Post([shared, made] {
      if (shared->state.Lock()->loop != nullptr) shared->done(std::move(*made));
    });
  }).detach();
}

Connector::~Connector() { shared_->state.Lock()->loop = nullptr; }

}  // namespace rendezvous
