// A container's securityContext, as far as a process of this machine can obey it. Pure.
#pragma once

#include <string>
#include <vector>

#include "local/node/plan/objects.h"
#include "process/rights.h"
#include "text/json.h"

namespace local::node {

struct Security {
  process::Rights rights;
  bool has_read_only_root = false;
};

// Merges the container's settings with the pod's. `own_user` is the daemon's user, under which
// programs run unless told otherwise. Settings that cannot be honoured, and runAsNonRoot for a root
// user, are refused for good. In an image (`is_in_image`) the user is not known before it runs.
OrNotReady<Security> SecurityOf(const text::Json& pod, const text::Json& container, uid_t own_user,
                                bool is_in_image);

struct SecuredProgram {
  std::string container;
  process::Rights rights;
  bool has_read_only_root = false;
};

// Whether the pod's root is read-only. The programs of a pod share its view and, if `own_user` is
// not root, their user in it, so they have to agree on both.
OrNotReady<bool> IsRootReadOnly(const std::vector<SecuredProgram>& programs, uid_t own_user);

}  // namespace local::node
