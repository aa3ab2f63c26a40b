#include "net/client/route.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/strings.h"
#include "net/client/connection.h"
#include "net/http/message.h"
#include "net/socket/error_words.h"
#include "net/socket/tcp.h"

namespace net {
namespace {

using OwnedSocket = std::unique_ptr<ClientSocket>;
using std::chrono::steady_clock;

// The answer to CONNECT has no body that counts.
constexpr size_t kMaxProxyBody = 64 << 10;
constexpr uint16_t kSocksPort = 1080;

// A connection on its way.
class Path {
 public:
  Path(const Route& route, std::chrono::milliseconds timeout, int cancel)
      : route_(route), deadline_(steady_clock::now() + timeout), cancel_(cancel) {}

  base::Result<OwnedSocket> Connect();

 private:
  base::Result<OwnedSocket> Tcp(const Url& to, int unresolved) const;
  base::Result<OwnedSocket> ThroughProxy() const;
  base::Result<OwnedSocket> AskProxy(OwnedSocket socket, const Url& proxy) const;
  base::Result<OwnedSocket> AskSocks(OwnedSocket socket, const Url& proxy) const;
  base::Status SendAll(ClientSocket& socket, std::string_view bytes) const;
  base::Result<std::string> ReceiveAll(ClientSocket& socket, size_t size) const;

  base::Error Explain(const CurlFailure& failure) const {
    return ErrorFromCurl(failure, route_.url, route_.proxy);
  }
  base::Error Refused(std::string why) const {
    return Explain({CURLE_PROXY, 0, 0, false, std::move(why)});
  }

  const Route& route_;
  const steady_clock::time_point deadline_;
  const int cancel_;
};

base::Result<OwnedSocket> Path::Tcp(const Url& to, int unresolved) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - steady_clock::now());
  auto fd = ConnectToTcp(to.host, to.port, left, cancel_);
  if (fd) {
    SetKeepAlive(fd->get());
    return PlainSocket(std::move(*fd));
  }
  if (fd.error().code == base::Code::kCancelled) return base::Fail(std::move(fd.error()));
  const bool is_unknown = fd.error().code == base::Code::kNotFound;
  return base::Fail(Explain({is_unknown ? unresolved : static_cast<int>(CURLE_COULDNT_CONNECT),
                             fd.error().os_errno, 0, false, fd.error().message}));
}

base::Result<OwnedSocket> Path::Connect() {
  OwnedSocket socket;
  if (route_.proxy.empty()) {
    TRY_ASSIGN(socket, Tcp(route_.url, CURLE_COULDNT_RESOLVE_HOST));
  } else {
    TRY_ASSIGN(socket, ThroughProxy());
  }
  if (route_.url.scheme != "https") return socket;
  TlsOptions tls = route_.tls;
  if (tls.server_name.empty()) tls.server_name = route_.url.host;
  const auto explain = [url = route_.url, proxy = route_.proxy](const CurlFailure& failure) {
    return ErrorFromCurl(failure, url, proxy);
  };
  return StartTls(std::move(socket), tls, deadline_, explain, cancel_);
}

base::Result<OwnedSocket> Path::ThroughProxy() const {
  std::string text = route_.proxy;
  const bool is_socks = text.starts_with("socks5://") || text.starts_with("socks5h://");
  if (is_socks) text.replace(0, text.find(':'), "http");
  auto proxy = ParseUrl(text);
  if (!proxy) {
    return base::Fail(base::Code::kInvalidArgument,
                      "the proxy's URL: begin with http://, https:// or socks5://");
  }
  if (is_socks && !NamesPort(text)) proxy->port = kSocksPort;
  TRY_ASSIGN(OwnedSocket socket, Tcp(*proxy, CURLE_COULDNT_RESOLVE_PROXY));
  if (is_socks) return AskSocks(std::move(socket), *proxy);
  if (proxy->scheme == "https") {
    TlsOptions tls;
    tls.server_name = proxy->host;
    const auto explain = [url = *proxy](const CurlFailure& failure) {
      return ErrorFromCurl(failure, url, "").Wrap("proxy");
    };
    TRY_ASSIGN(socket, StartTls(std::move(socket), tls, deadline_, explain, cancel_));
  }
  return AskProxy(std::move(socket), *proxy);
}

base::Result<OwnedSocket> Path::AskProxy(OwnedSocket socket, const Url& proxy) const {
  const std::string target = route_.url.Authority();
  HttpRequest request{.method = "CONNECT", .target = target, .headers = {}, .body = {}};
  request.headers.emplace_back("Host", target);
  if (!proxy.user_info.empty()) {
    request.headers.emplace_back(
        "Proxy-Authorization", "Basic " + base::Base64Encode(base::PercentDecode(proxy.user_info)));
  }
  const auto connection = ClientConnection::Over(std::move(socket));
  TRY(connection->Write(request, kMaxProxyBody, deadline_));
  if (const base::Status read = connection->ReadHeader(deadline_); !read) {
    return base::Fail(Refused(read.error().message));
  }
  const int status = connection->message().status;
  if (status / 100 == 2) return connection->TakeSocket();
  return base::Fail(Refused(fmt::format("HTTP {} {}", status, ReasonPhrase(status))));
}

base::Status Path::SendAll(ClientSocket& socket, std::string_view bytes) const {
  while (!bytes.empty()) {
    TRY_ASSIGN(const SocketStep step, socket.Send(bytes, {}));
    bytes.remove_prefix(step.bytes);
    if (step.wait_for != 0) {
      TRY(AwaitSocket(socket.fd(), step.wait_for, deadline_, cancel_));
    } else if (step.bytes == 0) {
      return base::Fail(Refused("it closed the connection"));
    }
  }
  return {};
}

base::Result<std::string> Path::ReceiveAll(ClientSocket& socket, size_t size) const {
  std::string bytes(size, '\0');
  for (size_t count = 0; count < size;) {
    TRY_ASSIGN(const SocketStep step, socket.Receive(bytes.data() + count, size - count));
    count += step.bytes;
    if (step.wait_for != 0) {
      TRY(AwaitSocket(socket.fd(), step.wait_for, deadline_, cancel_));
    } else if (step.bytes == 0) {
      return base::Fail(Refused("it closed the connection"));
    }
  }
  return bytes;
}

// SOCKS5, the name given to the proxy to look up.
base::Result<OwnedSocket> Path::AskSocks(OwnedSocket socket, const Url& proxy) const {
  constexpr char kVersion = 5, kNoLogin = 0, kPassword = 2, kConnect = 1, kName = 3;
  const auto sized = [](std::string_view text) {
    return std::string(1, static_cast<char>(text.size())).append(text);
  };
  const std::string login = base::PercentDecode(proxy.user_info);
  const char method = login.empty() ? kNoLogin : kPassword;
  TRY(SendAll(*socket, std::string{kVersion, 1, method}));
  TRY_ASSIGN(const std::string chosen, ReceiveAll(*socket, 2));
  if (chosen != std::string{kVersion, method}) {
    return base::Fail(Refused("it is not a SOCKS5 proxy, or wants another login"));
  }
  if (method == kPassword) {
    const size_t colon = std::min(login.find(':'), login.size());
    const std::string user = login.substr(0, colon);
    const std::string password = colon < login.size() ? login.substr(colon + 1) : "";
    if (user.size() > 255 || password.size() > 255) {
      return base::Fail(Refused("the login is too long for SOCKS5"));
    }
    TRY(SendAll(*socket, '\1' + sized(user) + sized(password)));
    TRY_ASSIGN(const std::string verdict, ReceiveAll(*socket, 2));
    if (verdict[1] != 0) return base::Fail(Refused("it does not accept the login"));
  }
  const std::string& host = route_.url.host;
  if (host.size() > 255) return base::Fail(Refused("the server's name is too long for SOCKS5"));
  const char port[] = {static_cast<char>(route_.url.port >> 8),
                       static_cast<char>(route_.url.port & 0xff)};
  TRY(SendAll(*socket, std::string{kVersion, kConnect, 0, kName} + sized(host) +
                           std::string(port, sizeof port)));
  TRY_ASSIGN(const std::string head, ReceiveAll(*socket, 5));
  if (head[1] != 0) return base::Fail(Refused(fmt::format("SOCKS5 reply {}", int{head[1]})));
  // Then the address that it connected from, and a port.
  const size_t left = head[3] == 1   ? 3 + 2
                      : head[3] == 4 ? 15 + 2
                                     : static_cast<unsigned char>(head[4]) + size_t{2};
  TRY(ReceiveAll(*socket, left));
  return socket;
}

}  // namespace

base::Result<OwnedSocket> Connect(const Route& route, std::chrono::milliseconds timeout,
                                  int cancel) {
  return Path(route, timeout, cancel).Connect();
}

}  // namespace net
