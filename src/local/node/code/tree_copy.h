// Copies a checkout into a pod's directory, and moves it to its place there.
#pragma once

#include <string>

#include "base/result.h"

namespace local::node {

// Copies the directory `source` to `target`, which must not exist: files (as clones that share
// their blocks, if the file system supports that), links as links, with their modes. The objects of
// a git repository, which never change, are hard links if possible.
base::Status CopyTree(const std::string& source, const std::string& target);

// Moves the directory `source` to `target`, on the same file system. If there is one at `target`
// already, its files and empty directories are replaced and its other entries stay. What a mount at
// the target would hide is left out.
base::Status MoveTree(const std::string& source, const std::string& target);

}  // namespace local::node
