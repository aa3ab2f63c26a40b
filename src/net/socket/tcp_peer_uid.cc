#include "net/socket/tcp_peer_uid.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace net {
namespace {

using base::Code;
using base::Fail;

struct DiagRequest {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

struct SocketEnd {
  sa_family_t family = AF_UNSPEC;
  __be16 port = 0;
  __be32 address[4] = {};
};

base::Result<SocketEnd> EndOf(int socket, int (*name)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (name(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    return Fail(base::Errno(errno, "address of a connection"));
  }
  SocketEnd end;
  end.family = storage.ss_family;
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    end.port = v4.sin_port;
    end.address[0] = v4.sin_addr.s_addr;
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof v6);
    end.port = v6.sin6_port;
    std::memcpy(end.address, &v6.sin6_addr, sizeof end.address);
  } else {
    return Fail(Code::kNotFound, "no TCP connection");
  }
  return end;
}

// The peer's own end is ours with the addresses swapped.
DiagRequest RequestFor(const SocketEnd& ours, const SocketEnd& theirs) {
  DiagRequest request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.body.sdiag_family = static_cast<__u8>(ours.family);
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0U;
  request.body.id.idiag_sport = theirs.port;
  request.body.id.idiag_dport = ours.port;
  std::memcpy(request.body.id.idiag_src, theirs.address, sizeof theirs.address);
  std::memcpy(request.body.id.idiag_dst, ours.address, sizeof ours.address);
  request.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return request;
}

}  // namespace

base::Result<uid_t> TcpPeerUid(int socket) {
  TRY_ASSIGN(const SocketEnd ours, EndOf(socket, ::getsockname));
  TRY_ASSIGN(const SocketEnd theirs, EndOf(socket, ::getpeername));
  const base::Fd diag(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!diag) return Fail(Code::kUnavailable, "the kernel has no sock_diag");
  const DiagRequest request = RequestFor(ours, theirs);
  // The kernel answers within the call, so an answer that is not there will not come.
  if (::send(diag.get(), &request, sizeof request, 0) != sizeof request) {
    return Fail(Code::kUnavailable, "the kernel does not say whose connection it is");
  }
  alignas(nlmsghdr) char answer[512];
  const ssize_t size = ::recv(diag.get(), answer, sizeof answer, MSG_DONTWAIT);
  nlmsghdr header{};
  inet_diag_msg message{};
  if (size < static_cast<ssize_t>(sizeof header)) {
    return Fail(Code::kUnavailable, "the kernel does not say whose connection it is");
  }
  std::memcpy(&header, answer, sizeof header);
  const bool is_answer = header.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
                         size >= static_cast<ssize_t>(NLMSG_HDRLEN + sizeof message);
  if (!is_answer) return Fail(Code::kNotFound, "the other end is not on this machine");
  std::memcpy(&message, answer + NLMSG_HDRLEN, sizeof message);
  return message.idiag_uid;
}

}  // namespace net
