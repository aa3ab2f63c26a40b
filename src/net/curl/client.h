// An HTTP client for a server over TLS: HTTP/2 on one kept connection, client certificates,
// proxies.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "net/client/client.h"
#include "net/curl/client_identity.h"
#include "net/http/file_uploader.h"
#include "net/socket/url.h"

namespace net {

struct CurlClientOptions {
  Url url;                       // each request's target is appended to its path
  std::string ca_pem;            // trusted authorities; "" for the system's
  bool is_insecure = false;      // accept any certificate
  std::string tls_server_name;   // the certificate's name, if it is not the URL's host
  std::string proxy;             // URL; "" for none
  bool is_of_kubeconfig = true;  // for the text of errors: see CurlFailure
  bool is_compressed = true;     // ask for gzip
  size_t max_response_bytes = kMaxResponseBytes;
  // For thousands of small writes whose effects watches report: reads together what comes within a
  // few milliseconds.
  bool is_write_heavy = false;
  std::chrono::milliseconds connect_timeout{std::chrono::seconds(15)};
  // Gives up on an answer when no byte comes for this long; a kube-apiserver itself gives up after
  // 60 s.
  std::chrono::seconds idle_timeout{70};
  // The caller's stop token, read at each request that waits for its whole answer. A stop breaks
  // the request off with kCancelled; the server may have carried it out.
  std::function<std::stop_token()> stop = {};
};

// Thread safe. Has one or two threads of its own that move the bytes.
class CurlClient : public HttpClient, public FileUploader {
 public:
  // Does not connect yet. kUnavailable if libcurl is missing.
  static base::Result<std::unique_ptr<CurlClient>> Create(CurlClientOptions options);

  // For connections made from now on.
  virtual void UseIdentity(ClientIdentity identity) = 0;
  // Likewise. PEM; "" for the system's authorities.
  virtual void UseAuthorities(std::string ca_pem) = 0;
};

}  // namespace net
