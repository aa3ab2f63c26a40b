// Says why a request got no answer, and what to do about it. Pure.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "net/socket/url.h"

namespace net {

// What libcurl knows about a request that failed.
struct CurlFailure {
  int curl_code = 0;       // CURLcode
  int os_errno = 0;        // of the last system call; 0 if none failed
  long verify_result = 0;  // X509_V_ERR_...
  bool was_connected = false;
  std::string detail;            // libcurl's own message
  bool is_of_kubeconfig = true;  // whether a kubeconfig names the server
};

// kUnavailable if trying again later may help, kTimeout, kInvalidArgument if the kubeconfig must be
// corrected, kUnauthenticated if a certificate is refused.
base::Error ErrorFromCurl(const CurlFailure& failure, const Url& url, const std::string& proxy);

// ErrorFromCurl for one server and its proxy.
using ExplainFailure = std::function<base::Error(const CurlFailure& failure)>;

}  // namespace net
