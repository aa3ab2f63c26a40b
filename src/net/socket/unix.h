// Unix stream sockets that only their owner can reach.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace net {

// A listening, non-blocking socket at `path` (of any length), mode 0600. The directory must belong
// to this user with mode 0700, else kPermissionDenied. Replaces a socket file on which nobody
// answers; kAlreadyExists if somebody does, or if the file is not a socket. Leaves a lock file
// `path`.lock beside it.
base::Result<base::Fd> ListenOnUnixPath(const std::string& path);

// A connected socket; waits at most `timeout` for room in the listener's queue. kUnavailable if
// nobody listens. kPermissionDenied, before anything is sent, if others may write to the directory
// or another user answers.
base::Result<base::Fd> ConnectToUnixPath(const std::string& path,
                                         std::chrono::milliseconds timeout);

// The uid of the process that connected (SO_PEERCRED).
base::Result<uid_t> PeerUid(int fd);
// True for this user, and for root, who can become any user.
bool IsTrustedPeer(uid_t uid);

}  // namespace net
