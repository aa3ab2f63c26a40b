// A web service by its URL, http or https, through the proxy that the environment asks for.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "net/client/client.h"
#include "net/socket/url.h"

namespace arena {

struct WebServiceOptions {
  std::chrono::milliseconds timeout{std::chrono::seconds(10)};
  std::string ca_pem;        // trusted instead of the system's authorities; "" is the system's
  bool is_insecure = false;  // any certificate will do
};

class WebService {
 public:
  // Does not connect yet. kInvalidArgument when `url` is none.
  static base::Result<WebService> At(std::string_view url, const base::Environment& environment,
                                     const WebServiceOptions& options);

  // The request's target comes after the URL's own path.
  base::Result<net::HttpResponse> Send(net::HttpRequest request);
  const net::Url& url() const { return url_; }

 private:
  WebService(net::Url url, std::unique_ptr<net::HttpClient> client)
      : url_(std::move(url)), client_(std::move(client)) {}

  net::Url url_;
  std::unique_ptr<net::HttpClient> client_;
};

}  // namespace arena
