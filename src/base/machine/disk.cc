#include "base/machine/disk.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <filesystem>
#include <limits>

#include "base/file.h"

namespace base {
namespace {

std::string ExistingPartOf(std::string path) {
  struct stat info{};
  while (path.size() > 1 && stat(path.c_str(), &info) != 0) path = DirectoryOf(path);
  return path.empty() ? "." : path;
}

// The highest directory above the path on the same file system; links are followed.
std::string MountOf(std::string path) {
  struct stat info{};
  std::error_code failure;
  if (auto real = std::filesystem::canonical(path, failure); !failure) path = real.string();
  if (stat(path.c_str(), &info) != 0) return "/";
  while (path.size() > 1) {
    const std::string parent = DirectoryOf(path);
    struct stat above{};
    if (parent.empty() || stat(parent.c_str(), &above) != 0 || above.st_dev != info.st_dev) break;
    path = parent;
  }
  return path;
}

}  // namespace

DiskSpace DiskSpaceOf(const std::string& path) {
  constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
  struct statvfs disk{};
  if (statvfs(path.c_str(), &disk) != 0 && statvfs(ExistingPartOf(path).c_str(), &disk) != 0) {
    return {kUnknown, kUnknown, kUnknown};
  }
  // Btrfs and others, which make inodes as needed, say that there are none.
  const uint64_t free_files = disk.f_files == 0 ? kUnknown : uint64_t{disk.f_favail};
  return {uint64_t{disk.f_blocks} * disk.f_frsize, uint64_t{disk.f_bavail} * disk.f_frsize,
          free_files};
}

std::string NoSpaceOn(const std::string& path) {
  std::error_code failure;
  const std::string full = path.empty() ? std::filesystem::current_path(failure).string()
                                        : std::filesystem::absolute(path, failure).string();
  const DiskSpace space = DiskSpaceOf(full);
  const bool is_of_files = space.free_files < kShortFiles && space.free > 0;
  return fmt::format("no space left {}on the disk of \"{}\" (mounted on {})",
                     is_of_files ? "for more files " : "", full, MountOf(ExistingPartOf(full)));
}

Error WriteErrno(int os_errno, std::string_view what, const std::string& path) {
  Error error = Errno(os_errno, fmt::format("{} {}", what, path));
  if (os_errno == ENOSPC || os_errno == EDQUOT) {
    error.message =
        fmt::format("{} {}: {}{}: delete files there", what, path, NoSpaceOn(DirectoryOf(path)),
                    os_errno == EDQUOT ? ", of what its quota gives you" : "");
  }
  return error;
}

int64_t DiskUse(const std::string& folder) {
  int64_t bytes = 0;
  std::error_code failure;
  auto each = std::filesystem::recursive_directory_iterator(folder, failure);
  while (!failure && each != std::filesystem::end(each)) {
    struct stat info{};
    if (::lstat(each->path().c_str(), &info) == 0) bytes += int64_t{info.st_blocks} * 512;
    each.increment(failure);
  }
  return bytes;
}

}  // namespace base
