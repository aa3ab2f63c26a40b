// kubectl's port forwarding: SPDY streams inside a WebSocket, two for each connection,
// distinguished by their headers (k8s.io/apimachinery/pkg/util/httpstream/spdy,
// k8s.io/client-go/tools/portforward).
//
//   SYN_STREAM streamtype=error port=P requestid=N --> SYN_REPLY
//   SYN_STREAM streamtype=data  port=P requestid=N --> SYN_REPLY, a connection to P
//   DATA on the data stream: the connection's bytes; on the error stream: why it failed
#pragma once

#include <memory>

#include "local/server/backend/port_source.h"
#include "net/http/types.h"

namespace local::server {

inline constexpr const char* kPortTunnelProtocol = "SPDY/3.1+portforward.k8s.io";

// Answers 101 and serves until the client disconnects. `headers` come from AcceptWebSocket.
void ServePortTunnel(PortSource& source, std::shared_ptr<net::Responder> responder,
                     net::Headers headers);

}  // namespace local::server
