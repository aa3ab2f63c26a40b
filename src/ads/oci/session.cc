#include "ads/oci/session.h"

#include <utility>

#include "net/curl/client.h"
#include "net/curl/proxy.h"

namespace ads::oci {

base::Result<std::unique_ptr<Session>> Session::Open(Options options,
                                                     const base::Environment& environment,
                                                     base::Clock& clock) {
  if (!options.connect) {
    options.connect = [&environment, breaker = options.breaker](
                          Service, const net::Url& endpoint) -> base::Result<Connection> {
      net::CurlClientOptions curl;
      curl.url = endpoint;
      curl.proxy = net::ProxyFor(endpoint, environment);
      curl.is_of_kubeconfig = false;
      // Objects are returned as they were stored, whatever their encoding.
      curl.is_compressed = false;
      if (breaker != nullptr) curl.stop = [breaker] { return breaker->token(); };
      TRY_ASSIGN(auto client, net::CurlClient::Create(std::move(curl)));
      net::FileUploader* const files = client.get();
      return Connection{std::move(client), files};
    };
  }
  auto principal = options.login.auth == "instance_principal"
                       ? OpenInstancePrincipal(options.connect, options.pause, environment, clock)
                       : OpenPrincipal(options.login, environment, clock);
  if (!principal) return base::Fail(principal.error());
  return std::unique_ptr<Session>(
      new Session(std::move(options), environment, clock, std::move(*principal)));
}

base::Result<Api*> Session::At(Service service) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Api>& api = apis_[service];
  if (api) return api.get();
  TRY_ASSIGN(net::Url endpoint, EndpointOf(service, principal_->origin().region, environment_));
  Api::Options options{service, HostHeader(endpoint), std::exchange(endpoint.path, ""),
                       options_.pause, options_.breaker};
  TRY_ASSIGN(Connection connection, options_.connect(service, endpoint));
  api = std::make_unique<Api>(std::move(options), std::move(connection), *principal_, clock_);
  return api.get();
}

}  // namespace ads::oci
