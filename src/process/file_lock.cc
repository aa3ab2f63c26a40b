#include "process/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace process {
namespace {

base::Result<base::Fd> Open(const std::string& path) {
  base::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return base::Fail(base::Errno(errno, "open " + path));
  return fd;
}

}  // namespace

base::Result<std::optional<base::Fd>> TryLockFile(const std::string& path) {
  TRY_ASSIGN(base::Fd fd, Open(path));
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<base::Fd>();
    if (errno != EINTR) return base::Fail(base::Errno(errno, "lock " + path));
  }
  return std::optional<base::Fd>(std::move(fd));
}

base::Result<base::Fd> LockFile(const std::string& path) {
  TRY_ASSIGN(base::Fd fd, Open(path));
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return base::Fail(base::Errno(errno, "lock " + path));
  }
  return fd;
}

}  // namespace process
