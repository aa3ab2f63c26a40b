// Unix stream sockets that only their owner can reach.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace net {

// A listening, non-blocking socket at `path`, of any length, mode 0600. The directory must belong
// to this user with mode 0700 (kPermissionDenied). A socket file on which nobody answers is
// replaced; kAlreadyExists when somebody does, or when the file is something else. A lock file
// `path`.lock stays beside it.
base::Result<base::Fd> ListenOnUnixPath(const std::string& path);

// A connected socket; waits at most `timeout` for room in the listener's queue. kUnavailable when
// nobody listens. kPermissionDenied, nothing having been sent, when the directory is not this
// user's alone or somebody else answers.
base::Result<base::Fd> ConnectToUnixPath(const std::string& path,
                                         std::chrono::milliseconds timeout);

// The uid that connected (SO_PEERCRED).
base::Result<uid_t> PeerUid(int fd);
// This user, and root, who could be anybody.
bool IsTrustedPeer(uid_t uid);

}  // namespace net
