#include "local/store/reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/file.h"
#include "base/machine/disk.h"

namespace local::store {
namespace {

// With less free space than this, nothing new is created although the reserve is still there.
constexpr uint64_t kShortBytes = 1 << 20;

uint64_t SizeOf(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

// Whether the file now has blocks for all of `size`; otherwise its length is unchanged.
bool Grow(const std::string& path, uint64_t size) {
  const base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat before{};
  if (!fd || ::fstat(fd.get(), &before) != 0) return false;
  if (::posix_fallocate(fd.get(), 0, static_cast<off_t>(size)) == 0) return true;
  if (before.st_size == 0 || ::ftruncate(fd.get(), before.st_size) != 0) ::unlink(path.c_str());
  return false;
}

}  // namespace

bool Reserve::IsShort() {
  if (path_.empty()) return false;
  if (!is_kept_) is_kept_ = Keep();
  const base::DiskSpace disk = base::DiskSpaceOf(base::DirectoryOf(path_));
  return !is_kept_ || disk.free < kShortBytes || disk.free_files < base::kShortFiles;
}

bool Reserve::Keep() {
  const base::DiskSpace disk = base::DiskSpaceOf(path_);
  const uint64_t wanted = std::min(kReserveBytes, disk.total / kReserveShare);
  if (SizeOf(path_) >= wanted) return true;
  if (disk.free < 2 * wanted) {
    if (disk.free >= 2 * kLastReserve) (void)Grow(path_, std::min(wanted, kLastReserve));
    return false;
  }
  // If the file cannot be created although there is room, the room is still there.
  (void)Grow(path_, wanted);
  return true;
}

bool Reserve::Release() {
  if (path_.empty()) return false;
  is_kept_ = false;
  const uint64_t size = SizeOf(path_);
  if (size == 0) return false;
  const uint64_t left = size > kLastReserve ? kLastReserve : size - std::min(size, kReserveStep);
  return left > 0 ? ::truncate(path_.c_str(), static_cast<off_t>(left)) == 0
                  : ::unlink(path_.c_str()) == 0;
}

void Reserve::KeepLast() {
  if (path_.empty()) return;
  uint64_t size = SizeOf(path_);
  while (size < kLastReserve && Grow(path_, size + kReserveStep)) size = SizeOf(path_);
}

}  // namespace local::store
