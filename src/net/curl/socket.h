// A connection that libcurl makes, through proxies and TLS if need be, and that the caller then
// reads and writes (CURLOPT_CONNECT_ONLY).
#pragma once

#include <memory>

#include "base/result.h"
#include "net/curl/error_words.h"
#include "net/curl/handle.h"
#include "net/socket/client_socket.h"

namespace net {

// Connects as the options of `handle` say, within their timeout, and blocks until it is connected.
// The connection is for HTTP/1.1. `explain` turns failures, also later ones, into errors.
base::Result<std::unique_ptr<ClientSocket>> ConnectByCurl(const CurlLibrary& curl,
                                                          std::unique_ptr<CurlHandle> handle,
                                                          ExplainFailure explain);

}  // namespace net
