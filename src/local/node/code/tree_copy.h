// Copying a checkout into a pod's directory.
#pragma once

#include <string>

#include "base/result.h"

namespace local::node {

// Copies the directory `source` to `target`, which must not exist: files (as clones that share
// their blocks where the file system can), links as links, modes kept. The objects of a git
// repository, which nobody ever changes, are hard links where possible.
base::Status CopyTree(const std::string& source, const std::string& target);

}  // namespace local::node
