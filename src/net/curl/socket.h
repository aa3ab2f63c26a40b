// A connection that libcurl makes, through proxies and TLS where there are some, for the caller to
// speak on (CURLOPT_CONNECT_ONLY).
#pragma once

#include <memory>

#include "base/result.h"
#include "net/curl/error_words.h"
#include "net/curl/handle.h"
#include "net/socket/client_socket.h"

namespace net {

// Connects by the options of `handle`, which say where to and for how long; blocks until it stands.
// HTTP/1.1 can be spoken on it. What goes wrong now or later is told in `explain`'s words.
base::Result<std::unique_ptr<ClientSocket>> ConnectByCurl(const CurlLibrary& curl,
                                                          std::unique_ptr<CurlHandle> handle,
                                                          ExplainFailure explain);

}  // namespace net
