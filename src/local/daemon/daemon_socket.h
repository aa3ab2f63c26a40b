// The socket on which commands reach the daemon.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "net/http/server.h"

namespace local::daemon {

// The caller holds the daemon's lock. Waits some seconds for the end of a socket there: the kernel
// closes a killed daemon's descriptors one after the other, so its lock may be free while its
// socket still takes connections.
base::Result<std::unique_ptr<net::HttpServer>> ListenOnSocket(const std::string& path,
                                                              const net::HttpHandler& handler);

}  // namespace local::daemon
