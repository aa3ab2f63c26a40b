// `muster up --listen`: serves the API over TLS on a loopback port, to clients that have the token.
//
// The persistent state is in <state>/listen, mode 0600: `address`, `token`, `ca.crt`, `ca.key`,
// `server.crt`, `server.key`. A kubeconfig therefore stays valid over `muster down` and `muster
// up`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/http/server.h"
#include "net/http/types.h"
#include "net/tls/listener.h"

namespace local::daemon {

inline constexpr std::chrono::hours kAuthorityValidity{24 * 3650};
inline constexpr std::chrono::hours kCertificateValidity{24 * 365};
// A certificate that expires sooner is replaced.
inline constexpr std::chrono::hours kRenewBefore{24 * 30};
// On the Unix socket only: POST {"address": "127.0.0.1:0" | "off"}.
inline constexpr std::string_view kListenPath = "/muster/listen";

struct ListenAddress {
  std::string host;   // "127.0.0.1" or "::1"
  uint16_t port = 0;  // 0: any

  std::string text() const;  // "127.0.0.1:8443", "[::1]:8443"
};
// "127.0.0.1:8443", "localhost:8443", "[::1]:8443", the port being optional. kInvalidArgument for
// an address that other machines could reach.
base::Result<ListenAddress> ParseListenAddress(std::string_view text);

// The kubeconfig for the state in `state`, as YAML. kNotFound when it has never listened.
base::Result<std::string> Kubeconfig(const std::string& state);

// Thread safe.
class Listener {
 public:
  // `server` handles the connections, `handler` answers them; both and `clock` must outlive this.
  Listener(std::string state, net::HttpServer& server, net::HttpHandler handler,
           base::Clock& clock);

  // Listens there from now on, whenever the daemon runs; port 0 means the last one used, otherwise
  // any. Returns the address.
  base::Result<std::string> Listen(ListenAddress address);
  // Stops listening for good. Token and authority are kept.
  base::Status StopListening();
  // Listens as when the daemon last ran; nullopt when it did not listen then.
  base::Result<std::optional<std::string>> Resume();

  // Answers a POST of kListenPath.
  net::HttpResponse Handle(const net::HttpRequest& request);

 private:
  base::Result<std::string> EnsureToken() const;
  base::Result<net::KeyedCertificate> Identity();

  const std::string folder_;
  net::HttpServer& server_;
  const net::HttpHandler handler_;
  base::Clock& clock_;

  std::mutex mutex_;  // guards the members below
  std::optional<net::KeyedCertificate> identity_;
  base::Time identity_end_{};
  ListenAddress address_;
  std::unique_ptr<net::TlsListener> tls_;
};

}  // namespace local::daemon
