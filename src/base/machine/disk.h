// Free space of the disk that holds a path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

// With fewer free inodes than this, a pod's folder may not fit.
inline constexpr uint64_t kShortFiles = 64;

struct DiskSpace {
  uint64_t total = 0;       // bytes
  uint64_t free = 0;        // available to this user
  uint64_t free_files = 0;  // how many more can be created (inodes)
};

// The disk that holds the path, or its nearest existing directory if the path does not exist. All
// numbers are the maximum when the disk does not report them.
DiskSpace DiskSpaceOf(const std::string& path);

// `no space left on the disk of "/home/me/state" (mounted on /home)`, or `no space left for more
// files on ...` if bytes are free but no inodes.
std::string NoSpaceOn(const std::string& path);

// Errno() for a failed write to `path`: `what path: ...`; names the disk if it is full.
Error WriteErrno(int os_errno, std::string_view what, const std::string& path);

// The disk space that the files below a folder occupy, in bytes; 0 when there is no such folder.
int64_t DiskUse(const std::string& folder);

}  // namespace base
