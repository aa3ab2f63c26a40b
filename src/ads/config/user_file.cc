#include "ads/config/user_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/fd.h"
#include "base/file.h"
#include "base/strings.h"
#include "process/spawn.h"

namespace ads {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kNewMode = 0666;
constexpr int kMaxLinks = 40;  // as Linux

}  // namespace

UserFile FindUserFile(const std::string& path) {
  fs::path at = path;
  std::error_code error;
  for (int i = 0; i < kMaxLinks; ++i) {
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : ".", error);
    if (error) break;
    // /dev/stdout leads to /proc/self/fd/1. That link's text names a file that is being written.
    if (folder.native().starts_with("/proc/")) return {folder / at.filename(), false};
    const fs::path link = fs::read_symlink(at, error);
    if (error) break;
    at = folder / link;
  }
  struct stat info{};
  return {at, ::stat(at.c_str(), &info) != 0 || S_ISREG(info.st_mode)};
}

base::Status WriteUserFile(const std::string& path, std::string_view content) {
  const UserFile file = FindUserFile(path);
  if (file.is_replaced) {
    struct stat info{};
    const bool is_there = ::stat(file.path.c_str(), &info) == 0;
    const unsigned mode = is_there ? info.st_mode & 0777U : kNewMode & ~process::CurrentUmask();
    return base::WriteFileAtomic(file.path, content, mode, base::Durability::kNone);
  }
  // Opened again, our own output would have a second position in its file.
  const std::string ours = fmt::format("/proc/{}/fd/", ::getpid());
  if (file.path.starts_with(ours)) {
    const int fd = static_cast<int>(base::ParseInt(file.path.substr(ours.size())).value_or(-1));
    return base::WriteAll(fd, content, path);
  }
  const base::Fd fd(::open(file.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!fd) return base::Fail(base::Errno(errno, "open " + path));
  return base::WriteAll(fd.get(), content, path);
}

bool IsUserFile(const std::string& path) {
  const UserFile file = FindUserFile(path);
  return file.is_replaced && ::access(file.path.c_str(), F_OK) == 0;
}

}  // namespace ads
