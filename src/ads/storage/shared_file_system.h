// Whether other machines write to a folder.
#pragma once

#include <string>

namespace ads {

// NFS, SMB, FUSE, Lustre and the like: inotify sees what is written on this machine alone. Also
// true of a folder that cannot be looked at.
bool IsOnSharedFileSystem(const std::string& folder);

}  // namespace ads
