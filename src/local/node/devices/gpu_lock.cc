#include "local/node/devices/gpu_lock.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/machine/user_name.h"
#include "base/uid.h"

namespace local::node {
namespace {

constexpr std::string_view kPrefix = "muster-gpu-";
constexpr size_t kRandomLength = 16;

// Whether files of a user stay there: nobody else but root may rename or remove them.
bool IsSafeFolder(const struct stat& info) {
  const bool is_ours = info.st_uid == 0 || info.st_uid == ::geteuid();
  return S_ISDIR(info.st_mode) && is_ours &&
         ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (info.st_mode & S_ISVTX) != 0);
}

bool IsForEverybody(const char* folder) {
  struct stat info{};
  return ::stat(folder, &info) == 0 && IsSafeFolder(info) && info.st_uid == 0 &&
         (info.st_mode & S_IWOTH) != 0;
}

struct flock WholeFile(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Asks as a reader: readers' locks, which anybody could have, do not count.
bool IsWriteLocked(int fd) {
  struct flock lock = WholeFile(F_RDLCK);
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
}

struct LockFile {
  std::string path;
  std::string unit;
};

std::vector<LockFile> LockFilesIn(const std::string& folder) {
  std::vector<LockFile> files;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  if (!dir) return files;
  while (const dirent* const entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    const size_t dot = name.rfind('.');
    if (!name.starts_with(kPrefix) || dot == std::string_view::npos) continue;
    files.push_back({fmt::format("{}/{}", folder, name),
                     std::string(name.substr(kPrefix.size(), dot - kPrefix.size()))});
  }
  return files;
}

// The owner of a lock file. A file of ours that nobody holds is removed.
std::optional<uid_t> HolderOf(const std::string& path) {
  // Checks the file, because others may have put anything there.
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (IsWriteLocked(fd.get())) return info.st_uid;
  if (info.st_uid == ::geteuid()) ::unlink(path.c_str());
  return std::nullopt;
}

// Whether another lock than `own` is held.
std::optional<uid_t> OtherHolder(const std::string& folder, std::string_view unit,
                                 const std::string& own) {
  for (const LockFile& file : LockFilesIn(folder)) {
    if (file.unit != unit || file.path == own) continue;
    if (const auto holder = HolderOf(file.path)) return holder;
  }
  return std::nullopt;
}

}  // namespace

std::string GpuLockFolder() { return IsForEverybody("/run/lock") ? "/run/lock" : "/tmp"; }

base::Result<base::Fd> LockGpu(const std::string& folder, std::string_view unit,
                               std::string_view text) {
  struct stat info{};
  if (::stat(folder.c_str(), &info) != 0) return base::Fail(base::Errno(errno, "stat " + folder));
  if (!IsSafeFolder(info)) {
    return base::Fail(base::Code::kPermissionDenied,
                      fmt::format("{} must belong to root or to you and, if others may write to "
                                  "it, be sticky (chmod +t): locks of GPUs are kept there",
                                  folder));
  }
  const auto refuse = [](uid_t holder) {
    return base::Fail(base::Code::kUnavailable, "held by " + DescribeHolder(holder));
  };
  if (const auto holder = OtherHolder(folder, unit, "")) return refuse(*holder);
  const std::string random = base::RandomName(kRandomLength);
  // Locked before it gets the name by which others find it.
  const std::string fresh = fmt::format("{}/.{}{}", folder, kPrefix, random);
  const std::string path = fmt::format("{}/{}{}.{}", folder, kPrefix, unit, random);
  base::Fd fd(::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd) return base::Fail(base::Errno(errno, "make " + fresh));
  struct flock lock = WholeFile(F_WRLCK);
  const bool is_made = ::fchmod(fd.get(), 0644) == 0 &&
                       ::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0 &&
                       ::rename(fresh.c_str(), path.c_str()) == 0;
  if (!is_made) {
    const int failed = errno;
    ::unlink(fresh.c_str());
    return base::Fail(base::Errno(failed, "lock " + path));
  }
  (void)base::WriteAll(fd.get(), fmt::format("{}\n", text), path);
  // Another lock that was taken at the same time sees ours now, or we see it.
  if (const auto holder = OtherHolder(folder, unit, path)) {
    ::unlink(path.c_str());
    return refuse(*holder);
  }
  return fd;
}

std::map<std::string, uid_t> GpuHolders(const std::string& folder) {
  std::map<std::string, uid_t> holders;
  for (const LockFile& file : LockFilesIn(folder)) {
    if (const auto holder = HolderOf(file.path)) holders.emplace(file.unit, *holder);
  }
  return holders;
}

std::string DescribeHolder(uid_t user) {
  return fmt::format("{} (another muster on this machine)",
                     base::UserName(user).value_or(fmt::format("user {}", user)));
}

}  // namespace local::node
