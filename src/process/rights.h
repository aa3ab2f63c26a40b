// What a program may, less than its parent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace process {

struct Rights {
  std::optional<uid_t> user;
  std::optional<gid_t> group;
  std::vector<gid_t> groups;           // supplementary; with a user only
  uint64_t dropped_capabilities = 0;   // a bit each, of linux/capability.h's number
  bool has_no_new_privileges = false;  // no set-uid program gives it more

  bool AreReduced() const {
    return user || group || dropped_capabilities != 0 || has_no_new_privileges;
  }
};

// For the child between fork and exec: allocates nothing, and touches this thread only, where the C
// library's functions would change every thread of a parent whose memory is shared. 0, or errno.
int TakeRights(const Rights& rights);

}  // namespace process
