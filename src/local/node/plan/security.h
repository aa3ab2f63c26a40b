// A container's securityContext, as far as a process of this machine can obey it. Pure.
#pragma once

#include <string>
#include <vector>

#include "local/node/agent/objects.h"
#include "process/rights.h"
#include "text/json.h"

namespace local::node {

struct Security {
  process::Rights rights;
  bool has_read_only_root = false;
};

// Of the container, else of the pod. `own_user`: the daemon's, which its programs have unless they
// are given another. What cannot be meant, and runAsNonRoot of what would be root, is refused for
// good. In an image (`is_in_image`) who runs is not known before it does.
OrNotReady<Security> SecurityOf(const text::Json& pod, const text::Json& container, uid_t own_user,
                                bool is_in_image);

struct SecuredProgram {
  std::string container;
  process::Rights rights;
  bool has_read_only_root = false;
};

// Whether the pod's root is read-only. What its programs share on this machine, its view and, where
// `own_user` is not root, who they are in it, they have to agree on.
OrNotReady<bool> IsRootReadOnly(const std::vector<SecuredProgram>& programs, uid_t own_user);

}  // namespace local::node
