// `muster up --listen`: the API over TLS on a loopback port, for clients that show the token.
//
// What lasts is in <state>/listen, mode 0600: `address`, `token`, `ca.crt`, `ca.key`, `server.crt`,
// `server.key`. So the same kubeconfig is good after `muster down` and `muster up`.
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
// A certificate that ends sooner is replaced.
inline constexpr std::chrono::hours kRenewBefore{24 * 30};
// On the Unix socket only: POST {"address": "127.0.0.1:0" | "off"}.
inline constexpr std::string_view kListenPath = "/muster/listen";

struct ListenAddress {
  std::string host;   // "127.0.0.1" or "::1"
  uint16_t port = 0;  // 0 is any

  std::string text() const;  // "127.0.0.1:8443", "[::1]:8443"
};
// "127.0.0.1:8443", "localhost:8443", "[::1]:8443", with or without the port. kInvalidArgument for
// what others could reach, too.
base::Result<ListenAddress> ParseListenAddress(std::string_view text);

// The kubeconfig for what is in `state`, as YAML. kNotFound when it never listened.
base::Result<std::string> Kubeconfig(const std::string& state);

// Thread safe.
class Listener {
 public:
  // `server` carries the connections, `handler` answers them; both and `clock` outlive this.
  Listener(std::string state, net::HttpServer& server, net::HttpHandler handler,
           base::Clock& clock);

  // Listens there from now on and whenever the daemon is up; port 0 is the last one, else any.
  // Returns the address.
  base::Result<std::string> Listen(ListenAddress address);
  // No more, now and later. Token and authority are kept.
  base::Status StopListening();
  // As it was when the daemon was last up; nullopt when it did not listen.
  base::Result<std::optional<std::string>> Resume();

  // The answer to a POST of kListenPath.
  net::HttpResponse Handle(const net::HttpRequest& request);

 private:
  base::Result<std::string> EnsureToken() const;
  base::Result<net::KeyedCertificate> Identity();

  const std::string folder_;
  net::HttpServer& server_;
  const net::HttpHandler handler_;
  base::Clock& clock_;

  std::mutex mutex_;  // guards what follows
  std::optional<net::KeyedCertificate> identity_;
  base::Time identity_end_{};
  ListenAddress address_;
  std::unique_ptr<net::TlsListener> tls_;
};

}  // namespace local::daemon
