// Sends a command's requests to the user's daemon, whichever process that is at the time.
//
// When a daemon ends during a request, this waits for it, starts a new one, and sends the request
// once more. Writes carry an id (api::kWriteIdHeader): the store carries out a repeated write once
// and answers as it did the first time. Readers have to open broken streams again themselves.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "cluster/transport.h"
#include "local/client/connect.h"

namespace local::daemon {

// The user is told about an answer that takes longer.
inline constexpr std::chrono::seconds kSilence{5};

struct TransportOptions {
  // Finds or starts the daemon after the previous one ended (ReviveDaemon); called from any thread,
  // one at a time.
  std::function<base::Result<DaemonRecord>()> ensure;
  // Tells the user, once, that the daemon does not answer.
  std::function<void(std::string_view words)> warn;
  net::Headers extra_headers;
  std::chrono::seconds timeout = cluster::kRequestTimeout;
  std::chrono::milliseconds silence = kSilence;
};

// The first request goes to `daemon`.
std::unique_ptr<cluster::Transport> DaemonTransport(DaemonRecord daemon, TransportOptions options);

}  // namespace local::daemon
