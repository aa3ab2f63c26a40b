#include "local/store/reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/disk.h"
#include "base/fd.h"
#include "base/file.h"

namespace local::store {
namespace {

// With less than this free nothing new is begun, although the reserve is still there.
constexpr uint64_t kShortBytes = 1 << 20;

}  // namespace

bool Reserve::IsShort() {
  if (path_.empty()) return false;
  if (!is_kept_) is_kept_ = Keep();
  return !is_kept_ || base::DiskSpaceOf(base::DirectoryOf(path_)).free < kShortBytes;
}

bool Reserve::Keep() {
  const base::DiskSpace disk = base::DiskSpaceOf(path_);
  const uint64_t wanted = std::min(kReserveBytes, disk.total / kReserveShare);
  struct stat info{};
  if (::stat(path_.c_str(), &info) == 0 && static_cast<uint64_t>(info.st_size) >= wanted) {
    return true;
  }
  if (disk.free < 2 * wanted) return false;
  const base::Fd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  // Where it cannot be made although there is room, there is room all the same.
  if (fd && ::posix_fallocate(fd.get(), 0, static_cast<off_t>(wanted)) != 0) {
    ::unlink(path_.c_str());
  }
  return true;
}

bool Reserve::Release() {
  if (path_.empty()) return false;
  is_kept_ = false;
  return ::unlink(path_.c_str()) == 0;
}

}  // namespace local::store
