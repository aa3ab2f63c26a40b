#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/defer.h"
#include "base/fd.h"
#include "base/machine/disk.h"

namespace base {
namespace {

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status RemoveEntry(int dir_fd, const char* name, const std::string& shown, dev_t device) {
  struct stat info{};
  if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return Fail(Errno(errno, "stat " + shown));
  }
  if (!S_ISDIR(info.st_mode)) {
    if (unlinkat(dir_fd, name, 0) != 0 && errno != ENOENT) {
      return Fail(Errno(errno, "remove " + shown));
    }
    return {};
  }
  if (info.st_dev != device) {
    return Fail(Code::kPermissionDenied,
                "remove " + shown + ": another file system is mounted here");
  }
  Fd fd(openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == EACCES) {
    // Some programs leave read-only directories behind (Go's module cache does).
    fchmodat(dir_fd, name, 0700, 0);
    fd.Reset(openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!fd) return Fail(Errno(errno, "open " + shown));
  fchmod(fd.get(), 0700);
  DIR* const dir = fdopendir(fd.get());
  if (dir == nullptr) return Fail(Errno(errno, "open " + shown));
  const int child_fd = fd.Release();
  const Defer close_dir([dir] { closedir(dir); });
  Status first_failure;
  while (const dirent* const entry = readdir(dir)) {
    const std::string_view child = entry->d_name;
    if (child == "." || child == "..") continue;
    Status removed = RemoveEntry(child_fd, entry->d_name, shown + "/" + entry->d_name, device);
    if (!removed && first_failure) first_failure = std::move(removed);
  }
  if (!first_failure) return first_failure;
  if (unlinkat(dir_fd, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return Fail(Errno(errno, "remove " + shown));
  }
  return {};
}

}  // namespace

Status WriteAll(int fd, std::string_view content, const std::string& shown) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return Fail(WriteErrno(errno, "write", shown));
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<std::string> ReadFile(const std::string& path, size_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Fail(Errno(errno, "open " + path));
  std::string content;
  char buffer[16384];
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0) {
      if (errno == EINTR) continue;
      return Fail(Errno(errno, "read " + path));
    }
    if (count == 0) return content;
    content.append(buffer, static_cast<size_t>(count));
    if (content.size() > limit) return Fail(Code::kExhausted, "read " + path + ": file too large");
  }
}

Status WriteFileAtomic(const std::string& path, std::string_view content, unsigned mode,
                       Durability durability) {
  std::string temporary = path + ".XXXXXX";
  Fd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return Fail(WriteErrno(errno, "create", temporary));
  Status written = WriteAll(fd.get(), content, temporary);
  if (written && fchmod(fd.get(), mode) != 0) written = Fail(Errno(errno, "chmod " + temporary));
  if (written && durability == Durability::kSync && fdatasync(fd.get()) != 0) {
    written = Fail(WriteErrno(errno, "sync", temporary));
  }
  fd.Reset();
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = Fail(Errno(errno, "rename " + temporary + " to " + path));
  }
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (durability == Durability::kSync) {
    const Fd dir(::open(ParentOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!dir || fsync(dir.get()) != 0) return Fail(Errno(errno, "sync " + ParentOf(path)));
  }
  return {};
}

Status CopyContent(int from, int to, const std::string& shown) {
  if (::ioctl(to, FICLONE, from) == 0) return {};
  while (true) {
    const ssize_t count = ::copy_file_range(from, nullptr, to, nullptr, 1 << 30, 0);
    if (count == 0) return {};
    if (count > 0 || errno == EINTR) continue;
    if (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) break;
    return Fail(WriteErrno(errno, "copy to", shown));
  }
  char buffer[64 << 10];
  while (true) {
    const ssize_t count = ::read(from, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(WriteErrno(errno, "copy to", shown));
    if (count == 0) return {};
    TRY(WriteAll(to, {buffer, static_cast<size_t>(count)}, shown));
  }
}

Status MakeDirs(const std::string& path, std::optional<unsigned> mode) {
  // The current folder may have been removed; it has no parent to make it in.
  if (path.empty() || path == "/" || path == ".") return {};
  // mkdir applies the umask.
  const auto make = [&] {
    return ::mkdir(path.c_str(), mode.value_or(0777)) == 0 &&
           (!mode || ::chmod(path.c_str(), *mode) == 0);
  };
  if (make()) return {};
  if (errno == ENOENT) {
    TRY(MakeDirs(ParentOf(path), mode));
    if (make()) return {};
  }
  if (errno == EEXIST) {
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
    errno = ENOTDIR;
  }
  return Fail(WriteErrno(errno, "make directory", path));
}

Status RemoveTree(const std::string& path) {
  // With a trailing slash, a link would be followed.
  std::string entry = path;
  while (entry.size() > 1 && entry.back() == '/') entry.pop_back();
  struct stat info{};
  if (::lstat(entry.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return Fail(Errno(errno, "stat " + entry));
  }
  return RemoveEntry(AT_FDCWD, entry.c_str(), entry, info.st_dev);
}

std::string DirectoryOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return "";
  return std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

}  // namespace base
