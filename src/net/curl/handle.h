// A libcurl handle with everything that it borrows, and the pool of idle handles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "net/curl/client_identity.h"
#include "net/curl/error_words.h"
#include "net/curl/library.h"
#include "net/http/types.h"

namespace net {

// For one thread at a time.
class CurlHandle {
 public:
  // Takes `handle`; its options may point into `security`.
  CurlHandle(const CurlLibrary& curl, CURL* handle, std::shared_ptr<const Security> security);
  ~CurlHandle();
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;

  CURL* get() const { return handle_; }
  const Security* security() const { return security_.get(); }
  // Whether its next errors cannot be confused with those of earlier requests.
  bool IsClean() const;
  // What libcurl knows after it ended with `curl_code`.
  CurlFailure FailureOf(int curl_code) const;
  // The headers of the next request. `host` replaces the URL's; "" keeps it.
  void SetHeaders(const Headers& headers, const std::string& host);
  // Where to connect in place of the URL's host (CURLOPT_CONNECT_TO).
  void SetRoute(const std::string& route);

 private:
  const CurlLibrary& curl_;
  CURL* const handle_;
  const std::shared_ptr<const Security> security_;
  Headers headers_;
  std::string host_;
  curl_slist* lines_ = nullptr;  // of headers_ and host_
  curl_slist* route_ = nullptr;
  char error_buffer_[CURL_ERROR_SIZE] = {};
};

// Handles that have sent a small request successfully. Their options stay set, so that the next
// request sets only its own. Thread safe.
class CurlHandlePool {
 public:
  // A handle whose options point into `security`; null if there is none.
  std::unique_ptr<CurlHandle> Take(const Security* security);
  void Give(std::unique_ptr<CurlHandle> handle);

 private:
  base::Guarded<std::vector<std::unique_ptr<CurlHandle>>> idle_;
};

}  // namespace net
