// Outgoing TCP connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace net {

// A connected, blocking socket to the first address of `host` that answers within `timeout`.
// kNotFound when the name has no address, kUnavailable when nobody listens, kTimeout. Looking a
// name up takes as long as the system's resolver does.
base::Result<base::Fd> ConnectToTcp(const std::string& host, uint16_t port,
                                    std::chrono::milliseconds timeout);

}  // namespace net
