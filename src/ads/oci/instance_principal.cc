#include "ads/oci/instance_principal.h"

#include <fmt/format.h>

#include <utility>

#include "ads/oci/api.h"
#include "ads/oci/instance_identity.h"
#include "ads/oci/service_error.h"
#include "base/strings.h"
#include "text/web_token.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

constexpr const char* kMetadataVariable = "OCI_METADATA_BASE_URL";
constexpr const char* kMetadataUrl = "http://169.254.169.254/opc/v2";
constexpr const char* kTokenPath = "/v1/x509";
// It is on the same machine.
constexpr std::chrono::seconds kMetadataTimeout{5};
constexpr int kMostTries = 4;

using Pause = std::function<void(base::Duration)>;

base::Result<net::HttpResponse> SendUntilAnswered(
    net::HttpClient& client, const std::function<base::Result<net::HttpRequest>()>& make,
    const Pause& pause) {
  for (int tries = 1;; ++tries) {
    TRY_ASSIGN(const net::HttpRequest request, make());
    auto answer = client.Send(request);
    if (!answer || tries == kMostTries) return answer;
    const auto wait = PauseAfter(*answer, tries, 0.5, {});
    if (answer->status < 400 || !wait) return answer;
    pause(*wait);
  }
}

// The instance's own metadata service.
class Metadata {
 public:
  static base::Result<Metadata> Open(const base::Environment& environment, Pause pause) {
    const std::string address(base::Trim(environment.GetOr(kMetadataVariable, kMetadataUrl)));
    auto url = net::ParseUrl(address.empty() ? kMetadataUrl : address);
    if (!url) return Fail(url.error().Wrap(kMetadataVariable));
    if (url->scheme != "http") {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: {}: begin with http://", kMetadataVariable, address));
    }
    return Metadata(std::move(*url), std::move(pause));
  }

  base::Result<Secret> Get(const std::string& path) const {
    const auto make = [&]() -> base::Result<net::HttpRequest> {
      return net::HttpRequest{"GET",
                              url_.path + path,
                              {{"host", HostHeader(url_)},
                               {"authorization", "Bearer Oracle"},
                               {"user-agent", "muster/" MUSTER_VERSION}},
                              "",
                              {}};
    };
    auto answer = SendUntilAnswered(*client_, make, pause_);
    if (answer && answer->status == 200) return Secret(std::move(answer->body));
    return Fail(
        Code::kUnavailable,
        fmt::format("instance principal: http://{}{}{}: {}: only compute instances of Oracle's "
                    "cloud have this service; elsewhere use --auth api_key",
                    HostHeader(url_), url_.path, path,
                    answer ? fmt::format("HTTP {}", answer->status) : answer.error().message));
  }

 private:
  Metadata(net::Url url, Pause pause)
      : url_(std::move(url)),
        pause_(std::move(pause)),
        client_(net::HttpClient::Tcp(url_.host, url_.port, kMetadataTimeout)) {}

  net::Url url_;
  Pause pause_;
  std::shared_ptr<net::HttpClient> client_;
};

// The service that issues tokens.
struct TokenService {
  std::shared_ptr<net::HttpClient> client;
  std::string host, path;
};

base::Result<Principal::Credential> LoadInstancePrincipal(const Metadata& metadata,
                                                          const TokenService& service,
                                                          const Pause& pause, base::Clock& clock) {
  TRY_ASSIGN(const Secret certificate, metadata.Get("/identity/cert.pem"));
  TRY_ASSIGN(const Secret key, metadata.Get("/identity/key.pem"));
  TRY_ASSIGN(const Secret intermediate, metadata.Get("/identity/intermediate.pem"));
  auto identity = InstanceIdentity::Read(certificate.text(), key, intermediate.text());
  if (!identity) return Fail(identity.error().Wrap("instance principal"));
  TRY_ASSIGN(auto session_key, PrivateKey::Generate());
  base::Time sent;
  const auto make = [&] {
    sent = clock.Now();
    return TokenRequest(*identity, *session_key, service.path, service.host, sent);
  };
  TRY_ASSIGN(const net::HttpResponse answer, SendUntilAnswered(*service.client, make, pause));
  if (answer.status < 200 || answer.status >= 300) {
    return Fail(ErrorFromService(
        answer, {"auth", "get_security_token",
                 fmt::format("is the instance of tenancy {}?", identity->tenancy), sent}));
  }
  auto token = TokenOf(answer.body);
  if (!token) return Fail(token.error().Wrap("get_security_token of auth"));
  return Principal::Credential{"ST$" + *token, std::move(session_key), text::ExpiryOfToken(*token)};
}

}  // namespace

base::Result<std::unique_ptr<Principal>> OpenInstancePrincipal(
    const ConnectFunction& connect, std::function<void(base::Duration)> pause,
    const base::Environment& environment, base::Clock& clock) {
  TRY_ASSIGN(const Metadata metadata, Metadata::Open(environment, pause));
  TRY_ASSIGN(const Secret region, metadata.Get("/instance/region"));
  Principal::Origin origin{RegionName(region.text()),
                           "does a dynamic group hold this instance, and a policy allow it this?",
                           "the authentication service gives tokens that have run out"};
  TRY_ASSIGN(const net::Url endpoint, EndpointOf(Service::kAuth, origin.region, environment));
  TRY_ASSIGN(Connection connection, connect(Service::kAuth, endpoint));
  const TokenService service{std::move(connection.client), HostHeader(endpoint),
                             endpoint.path + kTokenPath};
  return std::make_unique<Principal>(
      std::move(origin),
      [metadata, service, pause = std::move(pause), &clock] {
        return LoadInstancePrincipal(metadata, service, pause, clock);
      },
      clock);
}

}  // namespace ads::oci
