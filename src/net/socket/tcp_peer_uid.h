// Finds the user at the other end of a TCP connection within this machine.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace net {

// The owner of the peer of the connected TCP `socket`, from the kernel (sock_diag(7)). kNotFound if
// the peer is in another machine or namespace, or gone; kUnavailable if the kernel does not say.
base::Result<uid_t> TcpPeerUid(int socket);

}  // namespace net
