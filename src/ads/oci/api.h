// Api: signed requests to one service, with retries while they may help.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ads/oci/breaker.h"
#include "ads/oci/connection.h"
#include "ads/oci/principal.h"
#include "ads/oci/region.h"
#include "ads/oci/service_error.h"
#include "ads/oci/signature.h"
#include "base/clock.h"
#include "base/result.h"
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
  bool is_create = false;   // carries a retry token: the service carries it out once, however often
                            // it is sent
  bool is_repeated = true;  // retried while that may help
};

// Thread safe.
class Api {
 public:
  struct Options {
    Service service = Service::kDataScience;
    std::string host;       // as signed: without the scheme's default port
    std::string base_path;  // path of the endpoint, before every target: "" or "/..."
    std::function<void(base::Duration)> pause;
    const Breaker* breaker = nullptr;  // must outlive the Api; null: its waits cannot be broken
  };
  // Everything but `connection` must outlive it.
  Api(Options options, Connection connection, Principal& principal, base::Clock& clock)
      : options_(std::move(options)),
        connection_(std::move(connection)),
        principal_(principal),
        clock_(clock) {}

  // The answer if it is a success, otherwise ErrorFromService. kCancelled when the breaker was
  // broken: the service may have carried out the request, unless it had refused a creation, whose
  // error is returned then.
  base::Result<net::HttpResponse> Send(ApiRequest request);
  // The body is a part of a file, which is not signed.
  base::Result<net::HttpResponse> SendFile(const ApiRequest& request, const net::FileRange& range);
  // Sends all at once; returns the answers in the order of the requests.
  std::vector<base::Result<net::HttpResponse>> SendAll(std::span<const ApiRequest> requests);
  // The answer parsed as JSON.
  base::Result<text::Json> Ask(const ApiRequest& request);
  // All pages of a list: of an array, or of the member `items` of an object.
  base::Result<text::Array> List(ApiRequest request);

 private:
  struct Try {
    net::HttpRequest request;
    std::string key_id;
    base::Time sent;
  };
  bool IsBroken() const;
  // `body` is the request's body; it is not read.
  base::Result<Try> Sign(const ApiRequest& request, const net::Headers& headers, std::string body);
  base::Result<net::HttpResponse> Transmit(const Try& attempt, const net::FileRange* file);
  // Retries until the answer is final; `attempt` has been sent, and `answer` is its answer.
  base::Result<net::HttpResponse> Settle(const ApiRequest& request, const net::Headers& headers,
                                         const net::FileRange* file, Try attempt,
                                         base::Result<net::HttpResponse> answer);
  net::Headers UsualHeaders(const ApiRequest& request) const;

  const Options options_;
  const Connection connection_;
  Principal& principal_;
  base::Clock& clock_;
};

// "host", or "host:port" if the port is not the scheme's default.
std::string HostHeader(const net::Url& url);

}  // namespace ads::oci
