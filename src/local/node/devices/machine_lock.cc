#include "local/node/devices/machine_lock.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace local::node {

namespace {

struct Address {
  sockaddr_un socket_address{};
  socklen_t length = 0;
};

base::Result<Address> AbstractAddress(std::string_view name) {
  Address address;
  address.socket_address.sun_family = AF_UNIX;
  // sun_path[0] stays NUL: the abstract namespace (unix(7)).
  if (name.size() + 1 > sizeof address.socket_address.sun_path) {
    return base::Fail(base::Code::kInvalidArgument, "lock name too long: " + std::string(name));
  }
  std::memcpy(address.socket_address.sun_path + 1, name.data(), name.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

}  // namespace

base::Result<base::Fd> LockMachineWide(std::string_view name) {
  TRY_ASSIGN(const Address address, AbstractAddress(name));
  base::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.socket_address),
             address.length) == 0) {
    return fd;
  }
  if (errno == EADDRINUSE) {
    return base::Fail(base::Code::kUnavailable, std::string(name) + " is locked");
  }
  return base::Fail(base::Errno(errno, "lock " + std::string(name)));
}

}  // namespace local::node
