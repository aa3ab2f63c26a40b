// Copies a checkout into a pod's directory.
#pragma once

#include <string>

#include "base/result.h"

namespace local::node {

// Copies the directory `source` to `target`, which must not exist: files (as clones that share
// their blocks, if the file system supports that), links as links, with their modes. The objects of
// a git repository, which never change, are hard links if possible.
base::Status CopyTree(const std::string& source, const std::string& target);

}  // namespace local::node
