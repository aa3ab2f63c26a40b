// Why a request got no answer, in words that say what to do. Pure.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "net/socket/url.h"

namespace net {

// What libcurl knows of a request that failed.
struct CurlFailure {
  int curl_code = 0;       // CURLcode
  int os_errno = 0;        // of the last system call, 0 when none failed
  long verify_result = 0;  // X509_V_ERR_...
  bool was_connected = false;
  std::string detail;            // libcurl's own words
  bool is_of_kubeconfig = true;  // that names the server; else a URL that the caller knows of
};

// kUnavailable where trying again later may help, kTimeout, kInvalidArgument for what the
// kubeconfig must say otherwise, kUnauthenticated for a certificate that is refused.
base::Error ErrorFromCurl(const CurlFailure& failure, const Url& url, const std::string& proxy);

// ErrorFromCurl of one server and its proxy.
using ExplainFailure = std::function<base::Error(const CurlFailure& failure)>;

}  // namespace net
