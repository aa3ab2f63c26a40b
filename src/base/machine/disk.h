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

// The disk that holds the path, or its nearest existing directory if the path does not exist. In
// bytes; all numbers are the maximum when the disk does not report them.
DiskSpace DiskSpaceOf(const std::string& path);

// `no space left on the disk of "/home/me/state" (mounted on /home)`
std::string NoSpaceOn(const std::string& path);

// Errno() for a failed write to `path`: `what path: ...`; names the disk if it is full.
Error WriteErrno(int os_errno, std::string_view what, const std::string& path);

// The disk space that the files below a folder occupy, in bytes; 0 when there is no such folder.
int64_t DiskUse(const std::string& folder);

}  // namespace base
