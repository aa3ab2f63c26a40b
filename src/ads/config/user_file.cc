#include "ads/config/user_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/fd.h"
#include "base/file.h"

namespace ads {
namespace {

constexpr unsigned kNewMode = 0644;

}  // namespace

base::Status WriteUserFile(const std::string& path, std::string_view content) {
  struct stat info{};
  const bool is_there = ::stat(path.c_str(), &info) == 0;
  if (is_there && !S_ISREG(info.st_mode)) {
    const base::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return base::Fail(base::Errno(errno, "open " + path));
    return base::WriteAll(fd.get(), content, path);
  }
  char target[PATH_MAX];
  const bool is_resolved = is_there && ::realpath(path.c_str(), target) != nullptr;
  return base::WriteFileAtomic(is_resolved ? target : path, content,
                               is_there ? info.st_mode & 0777U : kNewMode, base::Durability::kNone);
}

bool IsUserFile(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace ads
