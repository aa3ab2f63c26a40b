// Rights that a program gives up compared with its parent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace process {

struct Rights {
  std::optional<uid_t> user;
  std::optional<gid_t> group;
  std::vector<gid_t> groups;           // supplementary; only together with a user
  uint64_t dropped_capabilities = 0;   // one bit for each number in linux/capability.h
  bool has_no_new_privileges = false;  // no set-uid program can give it more

  bool AreReduced() const {
    return user || group || dropped_capabilities != 0 || has_no_new_privileges;
  }
};

// For the child between fork and exec: allocates nothing, and changes this thread only, whereas the
// C library's functions would change every thread of a parent whose memory is shared. Returns 0 or
// errno.
int TakeRights(const Rights& rights);

}  // namespace process
