// Api: signed requests to one service, asked again while that helps.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ads/oci/principal.h"
#include "ads/oci/region.h"
#include "ads/oci/service_error.h"
#include "ads/oci/signature.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http_client.h"
#include "net/url.h"
#include "text/json.h"

namespace ads::oci {

struct ApiRequest {
  std::string operation;  // "create_job", for messages
  std::string method;
  std::string target;  // path and query, percent-encoded
  std::string body = {};
  std::string content_type = "application/json";
  net::Headers headers = {};  // beyond the usual ones
  SignedBody signed_body = SignedBody::kYes;
  bool is_create = false;  // carries a retry token: the service does it once, however often asked
};

// Thread safe.
class Api {
 public:
  struct Options {
    Service service = Service::kDataScience;
    std::string host;       // as it is signed: without the scheme's own port
    std::string base_path;  // of the endpoint, before every target: "" or "/..."
    std::function<void(base::Duration)> pause;
  };
  // All but `client` outlive it.
  Api(Options options, std::unique_ptr<net::HttpClient> client, Principal& principal,
      base::Clock& clock)
      : options_(std::move(options)),
        client_(std::move(client)),
        principal_(principal),
        clock_(clock) {}

  // The answer, when it is a success; ErrorFromService otherwise.
  base::Result<net::HttpResponse> Send(const ApiRequest& request);
  // At once; answers in the order of the requests.
  std::vector<base::Result<net::HttpResponse>> SendAll(std::span<const ApiRequest> requests);
  // The answer's JSON.
  base::Result<text::Json> Ask(const ApiRequest& request);
  // Every page of a list: of an array, or of the member `items` of an object.
  base::Result<text::Array> List(ApiRequest request);

 private:
  struct Try {
    net::HttpRequest request;
    std::string key_id;
    base::Time sent;
  };
  base::Result<Try> Sign(const ApiRequest& request, const net::Headers& headers);
  // Until the answer stands; `attempt` has been sent, `answer` is its answer.
  base::Result<net::HttpResponse> Settle(const ApiRequest& request, const net::Headers& headers,
                                         Try attempt, base::Result<net::HttpResponse> answer);
  net::Headers UsualHeaders(const ApiRequest& request) const;

  const Options options_;
  const std::unique_ptr<net::HttpClient> client_;
  Principal& principal_;
  base::Clock& clock_;
};

// "host", or "host:port" where the port is not the scheme's own.
std::string HostHeader(const net::Url& url);

}  // namespace ads::oci
