// For tests: an HttpServer that is reached through TLS, with an authority of its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "net/testing/server_fixture.h"
#include "net/tls/certificate.h"
#include "net/tls/listener.h"

namespace net {

class TlsServerFixture : public ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    const base::Time now = base::SystemClock().Now();
    authority_ = *MakeAuthority("test", now, std::chrono::hours(10));
    identity_ = *IssueServerCertificate(authority_, {"IP:127.0.0.1", "DNS:inside.test"}, now,
                                        std::chrono::hours(5));
  }
  void TearDown() override {
    listener_.reset();
    ServerFixture::TearDown();
  }

  void ServeTls(HttpHandler handler) {
    Serve([](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
      responder->Send({500, {}, "on the socket"});
    });
    auto listener = TlsListener::Listen(
        "127.0.0.1", 0, [this] { return base::Result<KeyedCertificate>(identity_); },
        [this, shared = std::make_shared<const HttpHandler>(std::move(handler))](base::Fd socket) {
          ++connections_;
          server_->Adopt(std::move(socket), shared);
        });
    ASSERT_TRUE(listener) << listener.error().message;
    listener_ = std::move(*listener);
  }
  std::string Origin() const { return "https://127.0.0.1:" + std::to_string(listener_->port()); }

  KeyedCertificate authority_;
  KeyedCertificate identity_;  // of the connections that come from now on
  std::unique_ptr<TlsListener> listener_;
  std::atomic<int> connections_ = 0;
};

}  // namespace net
