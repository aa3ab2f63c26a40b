// Whose process is at the other end of a TCP connection within this machine.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace net {

// The owner of the socket that the connected TCP `socket` speaks to, as the kernel knows it
// (sock_diag(7)). kNotFound when that socket is of another machine or namespace, or gone;
// kUnavailable when the kernel does not say.
base::Result<uid_t> TcpPeerUid(int socket);

}  // namespace net
