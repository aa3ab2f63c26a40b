#include "net/tls/listener.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <thread>
#include <unordered_set>

#include "base/log.h"
#include "net/socket/tcp.h"
#include "net/socket/tcp_peer_uid.h"

namespace net {
namespace {

namespace asio = boost::asio;
using AsioError = boost::system::error_code;
using asio::ip::tcp;
using Local = asio::local::stream_protocol;

// One TLS record.
constexpr size_t kBufferBytes = 16 << 10;

class Session;
using Sessions = std::unordered_set<std::shared_ptr<Session>>;

// One peer: two pumps with one buffer each, so that a slow side slows the other. Driven by the
// listener's thread only.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<asio::ssl::context> context, Sessions& sessions,
          std::string peer, uint64_t number)
      : peer_(std::move(peer)),
        number_(number),
        context_(std::move(context)),
        tls_(std::move(socket), *context_),
        plain_(tls_.get_executor()),
        timer_(tls_.get_executor()),
        sessions_(sessions) {}

  const std::string& peer() const { return peer_; }
  uint64_t number() const { return number_; }
  // It has had an answer. A peer without the token gets an answer too, and is then closed.
  bool is_served() const { return is_served_; }

  void Begin(const TlsListener::Admit& admit) {
    AsioError ignored;
    tls_.next_layer().set_option(tcp::no_delay(true), ignored);
    SetDeadline();
    tls_.async_handshake(asio::ssl::stream_base::server,
                         [self = shared_from_this(), &admit](AsioError error) {
                           self->timer_.cancel();
                           if (error) return self->Close();
                           self->HandOn(admit);
                         });
  }

  void Close() {
    const auto self = shared_from_this();
    if (sessions_.erase(self) == 0) return;
    AsioError ignored;
    timer_.cancel();
    tls_.next_layer().close(ignored);
    plain_.close(ignored);
  }

 private:
  void SetDeadline() {
    timer_.expires_after(kTlsHandshakeTimeout);
    timer_.async_wait([weak = weak_from_this()](AsioError error) {
      const auto self = weak.lock();
      if (!error && self) self->Close();
    });
  }

  void HandOn(const TlsListener::Admit& admit) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
      base::LogWarn("{}", base::Errno(errno, "socketpair").message);
      return Close();
    }
    base::Fd theirs(ends[1]);
    AsioError error;
    plain_.assign(Local(), ends[0], error);
    if (error) {
      ::close(ends[0]);
      return Close();
    }
    admit(std::move(theirs));
    PumpIn();
    PumpOut();
  }

  void PumpIn() {
    tls_.async_read_some(asio::buffer(in_),
                         [self = shared_from_this()](AsioError error, size_t size) {
                           if (error) return self->InputEnded();
                           asio::async_write(self->plain_, asio::buffer(self->in_.data(), size),
                                             [self](AsioError failed, size_t) {
                                               if (failed) return self->Close();
                                               self->PumpIn();
                                             });
                         });
  }

  // The peer sends no more; pending output is still sent.
  void InputEnded() {
    AsioError ignored;
    plain_.shutdown(Local::socket::shutdown_send, ignored);
  }

  void PumpOut() {
    plain_.async_read_some(asio::buffer(out_),
                           [self = shared_from_this()](AsioError error, size_t size) {
                             if (error) return self->OutputEnded();
                             self->is_served_ = true;
                             asio::async_write(self->tls_, asio::buffer(self->out_.data(), size),
                                               [self](AsioError failed, size_t) {
                                                 if (failed) return self->Close();
                                                 self->PumpOut();
                                               });
                           });
  }

  void OutputEnded() {
    SetDeadline();
    tls_.async_shutdown([self = shared_from_this()](AsioError) { self->Close(); });
  }

  const std::string peer_;  // as returned by PeerOf
  const uint64_t number_;   // in the order of arrival
  const std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<tcp::socket> tls_;
  Local::socket plain_;
  asio::steady_timer timer_;
  Sessions& sessions_;
  bool is_served_ = false;
  std::array<char, kBufferBytes> in_;
  std::array<char, kBufferBytes> out_;
};

// Peers that share a limit: "" is this user and root, who have none.
std::string PeerOf(tcp::socket& socket) {
  AsioError error;
  const asio::ip::address address = socket.remote_endpoint(error).address();
  if (!error && !address.is_loopback()) return address.to_string();
  const base::Result<uid_t> uid = TcpPeerUid(socket.native_handle());
  if (!uid) return "?";
  return *uid == ::geteuid() || *uid == 0 ? "" : std::to_string(*uid);
}

// A connection needs three descriptors, and other code needs some, too.
size_t MostConnections(size_t wanted) {
  constexpr rlim_t kShare = 12;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  return static_cast<size_t>(std::clamp<rlim_t>(limit.rlim_cur / kShare, 1, wanted));
}

class Listener final : public TlsListener {
 public:
  Listener(IdentitySource identity, Admit admit, TlsLimits limits)
      : identity_(std::move(identity)),
        admit_(std::move(admit)),
        most_(MostConnections(limits.connections)),
        most_per_peer_(std::min(most_, limits.per_peer)),
        acceptor_(io_),
        timer_(io_) {}

  ~Listener() override {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] {
      AsioError ignored;
      acceptor_.close(ignored);
      timer_.cancel();
      const Sessions sessions = sessions_;  // Close() removes from it
      for (const auto& session : sessions) session->Close();
    });
    thread_.join();
  }

  AsioError Open(const tcp::endpoint& endpoint) {
    AsioError error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) Begin();
    return error;
  }

  AsioError Take(base::Fd socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      return {errno, boost::system::system_category()};
    }
    AsioError error;
    acceptor_.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), socket.get(), error);
    if (error) return error;
    socket.Release();
    Begin();
    return {};
  }

  uint16_t port() const override { return port_; }

 private:
  void Begin() {
    port_ = acceptor_.local_endpoint().port();
    Accept();
    thread_ = std::jthread([this] { io_.run(); });
  }

  void Accept() {
    acceptor_.async_accept([this](AsioError error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
      if (error) {
        timer_.expires_after(kAcceptPause);
        timer_.async_wait([this](AsioError ended) {
          if (!ended && acceptor_.is_open()) Accept();
        });
        return;
      }
      std::string peer = PeerOf(socket);
      if (MakeRoom(peer)) Greet(std::move(socket), std::move(peer));
      Accept();
    });
  }

  bool MakeRoom(const std::string& peer) {
    const auto of_peer =
        std::count_if(sessions_.begin(), sessions_.end(),
                      [&](const auto& session) { return session->peer() == peer; });
    const bool is_one_too_many = !peer.empty() && static_cast<size_t>(of_peer) >= most_per_peer_;
    if (!is_one_too_many && sessions_.size() < most_) return true;
    std::shared_ptr<Session> oldest;
    for (const auto& session : sessions_) {
      if (session->is_served() || (is_one_too_many && session->peer() != peer)) continue;
      if (!oldest || session->number() < oldest->number()) oldest = session;
    }
    if (oldest) oldest->Close();
    return oldest != nullptr;
  }

  void Greet(tcp::socket socket, std::string peer) {
    auto identity = identity_();
    if (!identity) {
      base::LogWarn("TLS: {}", identity.error().message);
      return;
    }
    if (!context_ || identity->certificate != certificate_) {
      auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
      AsioError error;
      context->use_certificate_chain(asio::buffer(identity->certificate), error);
      if (!error) {
        context->use_private_key(asio::buffer(identity->key), asio::ssl::context::pem, error);
      }
      if (error) {
        base::LogWarn("TLS: {}", error.message());
        return;
      }
      SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
      context_ = std::move(context);
      certificate_ = identity->certificate;
    }
    const auto session = std::make_shared<Session>(std::move(socket), context_, sessions_,
                                                   std::move(peer), ++last_number_);
    sessions_.insert(session);
    session->Begin(admit_);
  }

  const IdentitySource identity_;
  const Admit admit_;
  const size_t most_;
  const size_t most_per_peer_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  uint16_t port_ = 0;
  Sessions sessions_;
  uint64_t last_number_ = 0;
  std::shared_ptr<asio::ssl::context> context_;
  std::string certificate_;  // that context_ uses
  std::jthread thread_;
};

}  // namespace

base::Result<std::unique_ptr<TlsListener>> TlsListener::Listen(const std::string& host,
                                                               uint16_t port,
                                                               IdentitySource identity, Admit admit,
                                                               TlsLimits limits) {
  AsioError error;
  const auto address = asio::ip::make_address(host, error);
  if (error || !address.is_loopback()) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} is not an address of this machine alone", host));
  }
  try {
    auto listener = std::make_unique<Listener>(std::move(identity), std::move(admit), limits);
    error = listener->Open({address, port});
    if (!error) return listener;
  } catch (const std::exception& thrown) {
    return base::Fail(base::Code::kExhausted, fmt::format("listen: {}", thrown.what()));
  }
  const bool is_taken = error == asio::error::address_in_use;
  return base::Fail(is_taken ? base::Code::kAlreadyExists : base::Code::kUnavailable,
                    fmt::format("listen on {} port {}: {}", host, port, error.message()));
}

base::Result<std::unique_ptr<TlsListener>> TlsListener::ListenOn(base::Fd socket,
                                                                 IdentitySource identity,
                                                                 Admit admit, TlsLimits limits) {
  try {
    auto listener = std::make_unique<Listener>(std::move(identity), std::move(admit), limits);
    const AsioError error = listener->Take(std::move(socket));
    if (!error) return listener;
    return base::Fail(base::Code::kUnavailable, fmt::format("listen: {}", error.message()));
  } catch (const std::exception& thrown) {
    return base::Fail(base::Code::kExhausted, fmt::format("listen: {}", thrown.what()));
  }
}

}  // namespace net
