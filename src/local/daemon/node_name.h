// The machine's name in the cluster. Pods are bound to it by that name, so it is chosen once and
// kept in the state folder, even if the host is renamed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace local::daemon {

// `stored` are the nodes in the store, `host` is the host's present name. At first use the name is
// that of the stored node, if there is one, otherwise the host's. Fails when the name was kept but
// cannot be read.
base::Result<std::string> KeepNodeName(const std::string& state_directory,
                                       const std::vector<std::string>& stored,
                                       const std::string& host);

}  // namespace local::daemon
