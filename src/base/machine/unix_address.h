// The address of a Unix socket relative to its opened folder: a path of any length fits into the
// 108 bytes that the kernel allows, and the checks of the folder apply to the socket in it.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace base {

struct UnixAddress {
  Fd folder;  // must stay open while the address is in use
  sockaddr_un address{};

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// kNotFound when there is no such folder; kInvalidArgument when the file's own name is too long. A
// link in place of the folder is not followed.
Result<UnixAddress> UnixAddressOf(const std::string& path);

// OK when the folder belongs to this user and nobody else can enter it, otherwise
// kPermissionDenied. `shown` names the folder in the error.
Status CheckPrivateFolder(int fd, const std::string& shown);

}  // namespace base
