#include "local/daemon/listener.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "local/server/request/api_error.h"
#include "text/json.h"
#include "text/yaml.h"

namespace local::daemon {
namespace {

constexpr size_t kTokenBytes = 32;
constexpr unsigned kSecretMode = 0600;

std::string Folder(const std::string& state) { return state + "/listen"; }

base::Status WriteSecret(const std::string& path, std::string_view content) {
  return base::WriteFileAtomic(path, content, kSecretMode, base::Durability::kSync);
}

base::Result<std::string> ReadLine(const std::string& path) {
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  return std::string(base::Trim(text));
}

// The stored file, or the result of `make`, which is stored: the key first, so that a certificate
// never lacks one.
template <typename Make>
base::Result<net::KeyedCertificate> LoadOrMake(const std::string& stem, Make make) {
  auto certificate = base::ReadFile(stem + ".crt");
  auto key = base::ReadFile(stem + ".key");
  if (certificate && key) return net::KeyedCertificate{std::move(*certificate), std::move(*key)};
  TRY_ASSIGN(net::KeyedCertificate made, make());
  TRY(WriteSecret(stem + ".key", made.key));
  TRY(WriteSecret(stem + ".crt", made.certificate));
  return made;
}

net::HttpHandler Guarded(std::string token, net::HttpHandler handler) {
  return [token = std::move(token), handler = std::move(handler)](
             net::HttpRequest request, std::shared_ptr<net::Responder> responder) {
    constexpr std::string_view kScheme = "bearer ";
    const std::string_view given = net::FindHeader(request.headers, "Authorization");
    const bool has_scheme =
        given.size() > kScheme.size() && base::ToLower(given.substr(0, kScheme.size())) == kScheme;
    if (!has_scheme || !net::AreEqualSecrets(base::Trim(given.substr(kScheme.size())), token)) {
      net::HttpResponse refusal = server::ToResponse({401, "Unauthorized", "Unauthorized", {}});
      // So that strangers cannot keep connections open.
      refusal.headers.emplace_back("Connection", "close");
      return responder->Send(std::move(refusal));
    }
    handler(std::move(request), std::move(responder));
  };
}

}  // namespace

std::string ListenAddress::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

base::Result<ListenAddress> ParseListenAddress(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{}: {}; use 127.0.0.1:PORT, localhost:PORT or "
                                  "[::1]:PORT",
                                  text, why));
  };
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return refuse("the bracket is not closed");
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return refuse("expected a colon before the port");
    if (!port.empty()) port.remove_prefix(1);
  } else if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  ListenAddress address;
  address.host = host.empty() || host == "localhost" ? "127.0.0.1" : std::string(host);
  if (address.host != "127.0.0.1" && address.host != "::1") {
    return refuse("the embedded cluster serves this machine only");
  }
  if (!port.empty()) {
    const auto number = base::ParseInt(port);
    if (!number || *number < 0 || *number > 65'535)
      return refuse("the port must be from 1 to 65535");
    address.port = static_cast<uint16_t>(*number);
  }
  return address;
}

base::Result<std::string> Kubeconfig(const std::string& state) {
  const std::string folder = Folder(state);
  const auto address = ReadLine(folder + "/address");
  const auto token = ReadLine(folder + "/token");
  const auto authority = base::ReadFile(folder + "/ca.crt");
  if (!address || !token || !authority) {
    return base::Fail(base::Code::kNotFound,
                      "the embedded cluster does not listen on a port: run `muster up --listen` "
                      "first");
  }
  const auto named = [](std::string_view what, text::Json value) {
    return text::Array{text::Object{{"name", "muster"}, {what, std::move(value)}}};
  };
  return text::ToYaml(text::Object{
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"clusters",
       named("cluster", text::Object{{"certificate-authority-data", base::Base64Encode(*authority)},
                                     {"server", "https://" + *address}})},
      {"users", named("user", text::Object{{"token", *token}})},
      {"contexts",
       named("context",
             text::Object{{"cluster", "muster"}, {"namespace", "default"}, {"user", "muster"}})},
      {"current-context", "muster"}});
}

Listener::Listener(std::string state, net::HttpServer& server, net::HttpHandler handler,
                   base::Clock& clock)
    : folder_(Folder(state)), server_(server), handler_(std::move(handler)), clock_(clock) {}

base::Result<std::string> Listener::EnsureToken() const {
  if (auto token = ReadLine(folder_ + "/token"); token && !token->empty()) return token;
  TRY_ASSIGN(std::string token, net::RandomToken(kTokenBytes));
  TRY(WriteSecret(folder_ + "/token", token + "\n"));
  return token;
}

base::Result<net::KeyedCertificate> Listener::Identity() {
  const base::Time now = clock_.Now();
  const std::lock_guard lock(mutex_);
  if (identity_ && now + kRenewBefore < identity_end_) return *identity_;
  TRY_ASSIGN(const net::KeyedCertificate authority, LoadOrMake(folder_ + "/ca", [&] {
               return net::MakeAuthority("muster", now, kAuthorityValidity);
             }));
  const auto issue = [&] {
    return net::IssueServerCertificate(authority, {"IP:127.0.0.1", "IP:::1", "DNS:localhost"}, now,
                                       kCertificateValidity);
  };
  TRY_ASSIGN(net::KeyedCertificate identity, LoadOrMake(folder_ + "/server", issue));
  auto end = net::CertificateEnd(identity.certificate);
  if (!end || *end <= now + kRenewBefore) {
    TRY(base::RemoveTree(folder_ + "/server.crt"));
    TRY_ASSIGN(identity, LoadOrMake(folder_ + "/server", issue));
    TRY_ASSIGN(*end, net::CertificateEnd(identity.certificate));
  }
  identity_ = identity;
  identity_end_ = *end;
  return identity;
}

base::Result<std::string> Listener::Listen(ListenAddress address) {
  TRY(base::MakeDirs(folder_));
  const std::string file = folder_ + "/address";
  if (address.port == 0) {
    const auto last = ReadLine(folder_ + "/last-address");
    const auto parsed = last ? ParseListenAddress(*last) : base::Result<ListenAddress>(address);
    if (parsed && parsed->host == address.host) address.port = parsed->port;
  }
  {
    const std::lock_guard lock(mutex_);
    if (tls_ && address_.host == address.host && address_.port == address.port) {
      return address_.text();
    }
  }
  TRY_ASSIGN(std::string token, EnsureToken());
  TRY(Identity());
  const auto guarded =
      std::make_shared<const net::HttpHandler>(Guarded(std::move(token), handler_));
  TRY_ASSIGN(auto tls, net::TlsListener::Listen(
                           address.host, address.port, [this] { return Identity(); },
                           [this, guarded](base::Fd connection) {
                             server_.Adopt(std::move(connection), guarded);
                           }));
  address.port = tls->port();
  TRY(WriteSecret(folder_ + "/last-address", address.text() + "\n"));
  TRY(WriteSecret(file, address.text() + "\n"));
  {
    const std::lock_guard lock(mutex_);
    address_ = address;
    tls.swap(tls_);
  }
  base::LogInfo("listening on https://{}", address.text());
  return address.text();
}

base::Status Listener::StopListening() {
  std::unique_ptr<net::TlsListener> tls;
  {
    const std::lock_guard lock(mutex_);
    tls = std::move(tls_);
  }
  return base::RemoveTree(folder_ + "/address");
}

base::Result<std::optional<std::string>> Listener::Resume() {
  const std::string file = folder_ + "/address";
  if (::access(file.c_str(), F_OK) != 0) return std::nullopt;
  TRY_ASSIGN(const std::string text, ReadLine(file));
  TRY_ASSIGN(const ListenAddress address, ParseListenAddress(text));
  TRY_ASSIGN(std::string listening, Listen(address));
  return listening;
}

net::HttpResponse Listener::Handle(const net::HttpRequest& request) {
  if (request.method != "POST") return server::ToResponse(server::MethodNotAllowed());
  const auto body = text::ParseJson(request.body);
  if (!body) return server::ToResponse(server::BadRequest(body.error().message));
  const std::string_view wanted = text::GetString(*body, {"address"});
  if (wanted == "off") {
    if (auto stopped = StopListening(); !stopped) {
      return server::ToResponse(server::FromError(stopped.error()));
    }
    return server::JsonResponse(200, R"({"address":""})");
  }
  const auto address = ParseListenAddress(wanted);
  if (!address) return server::ToResponse(server::FromError(address.error()));
  const auto listening = Listen(*address);
  if (!listening) return server::ToResponse(server::FromError(listening.error()));
  return server::JsonResponse(200, text::ToJson(text::Object{{"address", *listening}}));
}

}  // namespace local::daemon
