// A client of a web service (http or https), through the proxy that the environment names.
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
  std::string ca_pem;        // trusted authorities; "" means the system's
  bool is_insecure = false;  // accept any certificate
};

class WebService {
 public:
  // Does not connect yet. kInvalidArgument when `url` is not a URL.
  static base::Result<WebService> At(std::string_view url, const base::Environment& environment,
                                     const WebServiceOptions& options);

  // Appends the request's target to the URL's path.
  base::Result<net::HttpResponse> Send(net::HttpRequest request);
  const net::Url& url() const { return url_; }

 private:
  WebService(net::Url url, std::unique_ptr<net::HttpClient> client)
      : url_(std::move(url)), client_(std::move(client)) {}

  net::Url url_;
  std::unique_ptr<net::HttpClient> client_;
};

}  // namespace arena
