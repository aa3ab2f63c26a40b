// Free space of the disk that holds a path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

struct DiskSpace {
  uint64_t total = 0;
  uint64_t free = 0;  // available to this user
};

// The disk that holds the path, or would: that of its nearest existing directory. When the disk
// does not tell, all numbers are the maximum.
DiskSpace DiskSpaceOf(const std::string& path);

// `no space left on the disk of "/home/me/state" (mounted on /home)`
std::string NoSpaceOn(const std::string& path);

// Errno() for a failed write to `path`: `what path: ...`; names the disk if it is full.
Error WriteErrno(int os_errno, std::string_view what, const std::string& path);

// The disk space of the files below a folder, in bytes; 0 when there is none.
int64_t DiskUse(const std::string& folder);

}  // namespace base
