// What the machine is called in the cluster. Pods are bound to it by that name: it is chosen once
// and kept in the state folder, whatever the host is called later.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace local::daemon {

// `stored` are the nodes that the store has, `host` is the host's name now. The first time the name
// is the stored node's, where there is one, else the host's. Fails where the name is kept and
// cannot be read.
base::Result<std::string> KeepNodeName(const std::string& state_directory,
                                       const std::vector<std::string>& stored,
                                       const std::string& host);

}  // namespace local::daemon
