// Locks of GPUs that all users of the machine see, that nobody can take in another's name, and that
// no crash leaves behind. A lock is a file in a folder where everybody may make files and nobody
// may remove another's (/run/lock). Its name is <unit>.<random>, so that nobody can have made it
// before:
//
//   its owner         is its holder, which the kernel vouches for
//   its write lock    (fcntl, of the open file) says that it is held; only the owner can have one,
//                     and the kernel drops it with the last descriptor
//   its text          for people
//
// Users who want the same GPU at one moment may both be refused: they try again.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace local::node {

// The machine's: /run/lock, or /tmp if not everybody can write to that.
std::string GpuLockFolder();

// The lock, held as long as any process has the descriptor open; kUnavailable, naming its holder.
// kPermissionDenied if others could remove files from `folder`. `text` says what it is for.
base::Result<base::Fd> LockGpu(const std::string& folder, std::string_view unit,
                               std::string_view text);

// The holders, by unit, without taking a lock even for a moment. Removes files of this user that
// nobody holds.
std::map<std::string, uid_t> GpuHolders(const std::string& folder);

// "alice (another muster on this machine)"
std::string DescribeHolder(uid_t user);

}  // namespace local::node
