#include "arena/app/web_service.h"

#include <utility>

#include "net/curl/client.h"
#include "net/curl/proxy.h"

namespace arena {

base::Result<WebService> WebService::At(std::string_view url, const base::Environment& environment,
                                        const WebServiceOptions& options) {
  TRY_ASSIGN(net::Url parsed, net::ParseUrl(url));
  net::CurlClientOptions curl;
  curl.is_of_kubeconfig = false;
  curl.proxy = net::ProxyFor(parsed, environment);
  // libcurl costs a command some milliseconds to load.
  if (parsed.scheme == "http" && curl.proxy.empty()) {
    auto client = net::HttpClient::Tcp(parsed.host, parsed.port, options.timeout);
    return WebService(std::move(parsed), std::move(client));
  }
  curl.url = parsed;
  curl.url.path.clear();
  curl.url.user_info.clear();
  curl.ca_pem = options.ca_pem;
  curl.is_insecure = options.is_insecure;
  curl.connect_timeout = options.timeout;
  curl.idle_timeout = std::chrono::ceil<std::chrono::seconds>(options.timeout);
  TRY_ASSIGN(auto client, net::CurlClient::Create(std::move(curl)));
  return WebService(std::move(parsed), std::move(client));
}

base::Result<net::HttpResponse> WebService::Send(net::HttpRequest request) {
  request.target = url_.path + request.target;
  request.headers.insert(request.headers.begin(), {"Host", url_.Authority()});
  return client_->Send(request);
}

}  // namespace arena
