// A command's requests to the user's daemon, whichever process that is at the time.
//
// A daemon that ends under a request is waited for, a new one is started, and the request is sent
// once more. Writes carry an id (api::kWriteIdHeader), by which the store carries out once what
// comes twice and answers as the first time. Streams that broke are their readers' to open again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "cluster/transport.h"
#include "local/client/connect.h"

namespace local::daemon {

// An answer that takes longer is worth a word.
inline constexpr std::chrono::seconds kSilence{5};

struct TransportOptions {
  // Finds the daemon after the one before went away, or starts it (ReviveDaemon); from any thread,
  // one at a time.
  std::function<base::Result<DaemonRecord>()> ensure;
  // The user is told that the daemon is silent, once.
  std::function<void(std::string_view words)> warn;
  net::Headers extra_headers;
  std::chrono::seconds timeout = cluster::kRequestTimeout;
  std::chrono::milliseconds silence = kSilence;
};

// `daemon` is where the first request goes.
std::unique_ptr<cluster::Transport> DaemonTransport(DaemonRecord daemon, TransportOptions options);

}  // namespace local::daemon
