#include "net/socket/unix.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/machine/unix_address.h"

namespace net {
namespace {

// The kernel cuts it to net.core.somaxconn.
constexpr int kBacklog = 4096;
// How long an existing socket has to take a connection before it counts as answering anyway.
constexpr std::chrono::milliseconds kProbeTimeout{1000};

// The folder is the user's alone, and so is the socket that lies in it.
base::Result<base::UnixAddress> PrivateAddress(const std::string& path) {
  TRY_ASSIGN(base::UnixAddress address, base::UnixAddressOf(path));
  TRY(base::CheckPrivateFolder(address.folder.get(), base::DirectoryOf(path)));
  return address;
}

base::Status CheckPeer(int fd, const std::string& path) {
  TRY_ASSIGN(const uid_t uid, PeerUid(fd));
  if (IsTrustedPeer(uid)) return {};
  return base::Fail(
      base::Code::kPermissionDenied,
      fmt::format("\"{}\" belongs to another user (uid {}): nothing is sent to it", path, uid));
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
  TRY_ASSIGN(const base::UnixAddress address, PrivateAddress(path));
  TRY_ASSIGN(const base::Fd lock, LockForStart(path + ".lock"));
  TRY(RemoveStale(path));

  base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  // Linux gives the file that bind makes the mode of the socket's inode.
  if (::fchmod(fd.get(), 0600) != 0) return base::Fail(base::Errno(errno, "fchmod socket"));
  if (::bind(fd.get(), address.get(), sizeof address.address) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("bind \"{}\"", path)));
  }
  if (::listen(fd.get(), kBacklog) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("listen on \"{}\"", path)));
  }
  return fd;
}

base::Result<base::Fd> ConnectToUnixPath(const std::string& path,
                                         std::chrono::milliseconds timeout) {
  auto address = PrivateAddress(path);
  if (!address) {
    base::Error error = std::move(address.error());
    if (error.code == base::Code::kNotFound) error.code = base::Code::kUnavailable;
    return base::Fail(std::move(error));
  }
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
    result = ::connect(fd.get(), address->get(), sizeof address->address);
  } while (result != 0 && errno == EINTR);
  const int reason = errno;
  if (result == 0) {
    TRY(CheckPeer(fd.get(), path));
    return fd;
  }
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

bool IsTrustedPeer(uid_t uid) { return uid == ::geteuid() || uid == 0; }

}  // namespace net
