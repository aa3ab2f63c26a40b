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
  Url url;                       // requests' targets come after its path
  std::string ca_pem;            // trusted instead of the system's authorities; "" is the system's
  bool is_insecure = false;      // any certificate will do
  std::string tls_server_name;   // in the certificate, where it is not the URL's host
  std::string proxy;             // URL, "" is none
  bool is_of_kubeconfig = true;  // for the errors' words: CurlFailure
  bool is_compressed = true;     // ask for gzip
  // Thousands of small writes, with watches that tell of each: what comes of these within some
  // milliseconds is read together.
  bool is_write_heavy = false;
  std::chrono::milliseconds connect_timeout{std::chrono::seconds(15)};
  // Without a byte for so long an answer is given up; a kube-apiserver itself gives up after 60 s.
  std::chrono::seconds idle_timeout{70};
  // Asked at each request whose whole answer is waited for: once a stop is requested there, the
  // request is broken off and ends as kCancelled. Its server may have done what it asked for.
  std::function<std::stop_token()> stop = {};
};

// Thread safe; a thread of its own, or two, move the bytes.
class CurlClient : public HttpClient, public FileUploader {
 public:
  // Does not connect yet. kUnavailable when libcurl is missing.
  static base::Result<std::unique_ptr<CurlClient>> Create(CurlClientOptions options);

  // For connections made from now on.
  virtual void UseIdentity(ClientIdentity identity) = 0;
  // Likewise; "" is the system's authorities. PEM.
  virtual void UseAuthorities(std::string ca_pem) = 0;
};

}  // namespace net
