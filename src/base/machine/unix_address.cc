#include "base/machine/unix_address.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace base {

Result<UnixAddress> UnixAddressOf(const std::string& path) {
  const std::string folder = DirectoryOf(path);
  const std::string shown = folder.empty() ? "." : folder;
  UnixAddress made;
  made.folder.Reset(::open(shown.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made.folder) return Fail(Errno(errno, fmt::format("socket directory \"{}\"", shown)));
  const std::string name =
      fmt::format("/proc/self/fd/{}/{}", made.folder.get(), path.substr(path.rfind('/') + 1));
  if (path.empty() || name.size() >= sizeof made.address.sun_path) {
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\": the name is too long for a socket", path));
  }
  made.address.sun_family = AF_UNIX;
  std::memcpy(made.address.sun_path, name.data(), name.size());
  return made;
}

Status CheckPrivateFolder(int fd, const std::string& shown) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return Fail(Errno(errno, fmt::format("\"{}\"", shown)));
  if (info.st_uid == ::geteuid() && (info.st_mode & 077) == 0) return {};
  return Fail(Code::kPermissionDenied,
              fmt::format("\"{}\" must be a directory of yours that nobody else can enter: "
                          "chmod 0700",
                          shown));
}

}  // namespace base
