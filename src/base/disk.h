// How full the disk below a path is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

struct DiskSpace {
  uint64_t total = 0;
  uint64_t free = 0;  // to this user
};

// Of the disk that holds the path, or would: of its nearest directory that exists. All the numbers
// of a disk that does not tell are the greatest.
DiskSpace DiskSpaceOf(const std::string& path);

// `no space left on the disk of "/home/me/state" (mounted on /home)`
std::string NoSpaceOn(const std::string& path);

// Errno(), of what was to be written to `path`: `what path: ...`, and a disk that is full is named.
Error WriteErrno(int os_errno, std::string_view what, const std::string& path);

// Bytes that the files below a folder take on their disk; 0 where there is none.
int64_t DiskUse(const std::string& folder);

}  // namespace base
