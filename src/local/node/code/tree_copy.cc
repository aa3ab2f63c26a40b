#include "local/node/code/tree_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/fd.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/machine/disk.h"

namespace local::node {
namespace {

constexpr int kMaxDepth = 200;

base::Status CopyFile(const std::string& source, const std::string& target, mode_t mode,
                      bool is_linkable) {
  if (is_linkable && ::link(source.c_str(), target.c_str()) == 0) return {};
  const base::Fd from(::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!from) return base::Fail(base::Errno(errno, "open " + source));
  const base::Fd to(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!to) return base::Fail(base::WriteErrno(errno, "create", target));
  TRY(base::CopyContent(from.get(), to.get(), target));
  if (::fchmod(to.get(), mode & 07777) != 0) {
    return base::Fail(base::Errno(errno, "chmod " + target));
  }
  return {};
}

base::Status CopyLink(const std::string& source, const std::string& target) {
  std::string text(4096, '\0');
  const ssize_t count = ::readlink(source.c_str(), text.data(), text.size());
  if (count < 0) return base::Fail(base::Errno(errno, "read link " + source));
  text.resize(static_cast<size_t>(count));
  if (::symlink(text.c_str(), target.c_str()) != 0) {
    return base::Fail(base::WriteErrno(errno, "make link", target));
  }
  return {};
}

base::Status CopyDirectory(const std::string& source, const std::string& target, mode_t mode,
                           bool is_linkable, int depth) {
  if (depth > kMaxDepth) {
    return base::Fail(base::Code::kInvalidArgument, "copy " + source + ": too deep");
  }
  if (::mkdir(target.c_str(), 0700) != 0) {
    return base::Fail(base::WriteErrno(errno, "make directory", target));
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(source.c_str()), ::closedir);
  if (!dir) return base::Fail(base::Errno(errno, "open " + source));
  while (const dirent* const entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string from = source + "/" + name;
    const std::string to = target + "/" + name;
    struct stat info{};
    if (::lstat(from.c_str(), &info) != 0) return base::Fail(base::Errno(errno, "stat " + from));
    if (S_ISDIR(info.st_mode)) {
      const bool is_objects = name == "objects" && source.ends_with("/.git");
      TRY(CopyDirectory(from, to, info.st_mode, is_linkable || is_objects, depth + 1));
    } else if (S_ISLNK(info.st_mode)) {
      TRY(CopyLink(from, to));
    } else if (S_ISREG(info.st_mode)) {
      TRY(CopyFile(from, to, info.st_mode, is_linkable));
    }
  }
  if (::chmod(target.c_str(), mode & 07777) != 0) {
    return base::Fail(base::Errno(errno, "chmod " + target));
  }
  return {};
}

}  // namespace

base::Status CopyTree(const std::string& source, const std::string& target) {
  struct stat info{};
  if (::lstat(source.c_str(), &info) != 0) return base::Fail(base::Errno(errno, "stat " + source));
  return CopyDirectory(source, target, info.st_mode, false, 0);
}

base::Status MoveTree(const std::string& source, const std::string& target) {
  if (::rename(source.c_str(), target.c_str()) == 0) return {};
  const int why = errno;
  struct stat from{};
  struct stat to{};
  const bool are_there = ::lstat(source.c_str(), &from) == 0 && ::lstat(target.c_str(), &to) == 0;
  if (!are_there || !S_ISDIR(from.st_mode) || !S_ISDIR(to.st_mode)) {
    // A mount hides what would be here.
    if (are_there && ::remove(target.c_str()) != 0 && errno == EBUSY) return {};
    if (::rename(source.c_str(), target.c_str()) == 0) return {};
    return base::Fail(base::Errno(why, fmt::format("move {} to {}", source, target)));
  }
  for (const std::string& name : base::EntriesOf(source)) {
    TRY(MoveTree(source + "/" + name, target + "/" + name));
  }
  if (::chmod(target.c_str(), from.st_mode & 07777) != 0) {
    return base::Fail(base::Errno(errno, "chmod " + target));
  }
  return base::RemoveTree(source);
}

}  // namespace local::node
