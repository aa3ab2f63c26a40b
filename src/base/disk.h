// How full the disk below a path is.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace base
