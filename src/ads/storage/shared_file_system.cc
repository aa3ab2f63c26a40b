#include "ads/storage/shared_file_system.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace ads {
namespace {

// statfs(2): NFS, SMB, CIFS, SMB2, FUSE, Lustre, Ceph, GPFS, BeeGFS, 9P.
constexpr std::array<uint32_t, 10> kSharedTypes = {0x6969,     0x517B,     0xFF534D42, 0xFE534D42,
                                                   0x65735546, 0x0BD00BD0, 0x00C36400, 0x47504653,
                                                   0x19830326, 0x01021997};

}  // namespace

bool IsOnSharedFileSystem(const std::string& folder) {
  struct statfs info{};
  if (::statfs(folder.c_str(), &info) != 0) return true;
  return std::find(kSharedTypes.begin(), kSharedTypes.end(), static_cast<uint32_t>(info.f_type)) !=
         kSharedTypes.end();
}

}  // namespace ads
