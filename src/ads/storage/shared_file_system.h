// Finds out whether other machines may write to a folder.
#pragma once

#include <string>

namespace ads {

// NFS, SMB, FUSE, Lustre and similar: inotify reports only this machine's writes. Also true for a
// folder that cannot be examined.
bool IsOnSharedFileSystem(const std::string& folder);

}  // namespace ads
