#include "net/unix_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace net {
namespace {

// The kernel cuts it to net.core.somaxconn.
constexpr int kBacklog = 4096;
// How long an existing socket has to take a connection before it counts as answering anyway.
constexpr std::chrono::milliseconds kProbeTimeout{1000};

base::Result<sockaddr_un> Address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("socket path \"{}\" has {} bytes; the system allows {}", path,
                                  path.size(), sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

base::Status CheckDirectory(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("socket directory \"{}\"", path)));
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 077) != 0) {
    return base::Fail(
        base::Code::kPermissionDenied,
        fmt::format("socket directory \"{}\" must be a directory of yours that nobody "
                    "else can enter: chmod 0700",
                    path));
  }
  return {};
}

// One starter at a time looks at the socket file and replaces it.
base::Result<base::Fd> LockForStart(const std::string& path) {
  base::Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return base::Fail(base::Errno(errno, fmt::format("open \"{}\"", path)));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return base::Fail(base::Errno(errno, fmt::format("lock \"{}\"", path)));
  return base::Fail(base::Code::kAlreadyExists,
                    fmt::format("\"{}\" is locked: another server is starting", path));
}

base::Status RemoveStale(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return base::Fail(base::Errno(errno, fmt::format("\"{}\"", path)));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return base::Fail(base::Code::kAlreadyExists,
                      fmt::format("\"{}\" exists and is not a socket", path));
  }
  const base::Result<base::Fd> probe = ConnectToUnixPath(path, kProbeTimeout);
  if (probe || probe.error().code != base::Code::kUnavailable) {
    return base::Fail(base::Code::kAlreadyExists,
                      fmt::format("a server already listens on \"{}\"", path));
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return base::Fail(base::Errno(errno, fmt::format("remove stale \"{}\"", path)));
  }
  return {};
}

}  // namespace

base::Result<base::Fd> ListenOnUnixPath(const std::string& path) {
  TRY_ASSIGN(const sockaddr_un address, Address(path));
  TRY(CheckDirectory(ParentOf(path)));
  TRY_ASSIGN(const base::Fd lock, LockForStart(path + ".lock"));
  TRY(RemoveStale(path));

  base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  // Linux gives the file that bind makes the mode of the socket's inode.
  if (::fchmod(fd.get(), 0600) != 0) return base::Fail(base::Errno(errno, "fchmod socket"));
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("bind \"{}\"", path)));
  }
  if (::listen(fd.get(), kBacklog) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("listen on \"{}\"", path)));
  }
  return fd;
}

base::Result<base::Fd> ConnectToUnixPath(const std::string& path,
                                         std::chrono::milliseconds timeout) {
  TRY_ASSIGN(const sockaddr_un address, Address(path));
  base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  // A full queue makes connect wait for as long as a send may; zero would be for ever.
  timeout = std::max(timeout, std::chrono::milliseconds(1));
  const timeval limit{.tv_sec = timeout.count() / 1000,
                      .tv_usec = static_cast<suseconds_t>(timeout.count() % 1000 * 1000)};
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0) {
    return base::Fail(base::Errno(errno, "setsockopt SO_SNDTIMEO"));
  }
  int result = 0;
  do {
    result = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return fd;
  const int reason = errno;
  const std::string context = fmt::format("connect to \"{}\"", path);
  base::Error error = base::Errno(reason, context);
  if (reason == ENOENT || reason == ENOTSOCK) error.code = base::Code::kUnavailable;
  if (reason == EAGAIN) {
    error = {base::Code::kTimeout, context + ": the server does not answer", reason};
  }
  return base::Fail(std::move(error));
}

base::Result<uid_t> PeerUid(int fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return base::Fail(base::Errno(errno, "getsockopt SO_PEERCRED"));
  }
  return credentials.uid;
}

}  // namespace net
