#include "local/node/exec/channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "text/json.h"

namespace local::node {
namespace {

constexpr int kBacklog = 16;
constexpr size_t kMaxFds = 3;

sockaddr_un ExecAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

base::Result<base::Fd> NewSocket() {
  base::Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  return fd;
}

base::Status SendMessage(int socket, const std::string& text, const std::vector<base::Fd>& fds) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFds * sizeof(int))> control{};
  if (!fds.empty()) {
    const size_t size = fds.size() * sizeof(int);
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    std::array<int, kMaxFds> numbers{};
    for (size_t i = 0; i < fds.size(); ++i) numbers[i] = fds[i].get();
    std::memcpy(CMSG_DATA(header), numbers.data(), size);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return {};
  if (errno == EMSGSIZE) return base::Fail(base::Code::kExhausted, "the command is too long");
  base::Error error = base::Errno(errno, "send");
  if (errno == EPIPE || errno == ECONNRESET) error.code = base::Code::kUnavailable;
  return base::Fail(std::move(error));
}

struct Received {
  text::Json json;
  std::vector<base::Fd> fds;
};

void TakeFds(msghdr& message, std::vector<base::Fd>& fds) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

base::Result<std::optional<Received>> ReceiveMessage(int socket) {
  std::string text(kMaxExecMessage, '\0');
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFds * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) {
    return base::Fail(base::Code::kUnavailable, "no message yet");
  }
  if (count == 0 || (count < 0 && errno == ECONNRESET)) return std::optional<Received>();
  if (count < 0) return base::Fail(base::Errno(errno, "receive"));
  Received received;
  TakeFds(message, received.fds);
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return base::Fail(base::Code::kExhausted, "exec message too large");
  }
  TRY_ASSIGN(received.json,
             text::ParseJson(std::string_view(text).substr(0, static_cast<size_t>(count))));
  return std::optional(std::move(received));
}

}  // namespace

base::Result<base::Fd> ListenForExecs() {
  TRY_ASSIGN(base::Fd fd, NewSocket());
  const sockaddr_un address = ExecAddress(kExecSocket);
  // Left by an earlier shim: only we use the directory.
  ::unlink(kExecSocket);
  if (::fchmod(fd.get(), 0600) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return base::Fail(base::Errno(errno, std::string("listen on ") + kExecSocket));
  }
  return fd;
}

base::Result<base::Fd> ConnectToExecs(const std::string& directory) {
  TRY_ASSIGN(base::Fd fd, NewSocket());
  const base::Fd place(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place) return base::Fail(base::Errno(errno, directory));
  const sockaddr_un address =
      ExecAddress(fmt::format("/proc/self/fd/{}/{}", place.get(), kExecSocket));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return fd;
  }
  if (errno == ENOENT || errno == ECONNREFUSED) {
    return base::Fail(base::Code::kUnavailable,
                      "the pod accepts no commands, because no container is running");
  }
  return base::Fail(base::Errno(errno, "connect to the pod"));
}

bool IsOwnPeer(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == ::geteuid() || peer.uid == 0);
}

base::Status SendRequest(int socket, const ExecRequest& request) {
  const text::Json json =
      text::Object{{"container", request.container},
                   {"argv", text::Array(request.argv.begin(), request.argv.end())},
                   {"terminal", request.has_terminal}};
  return SendMessage(socket, text::ToJson(json), request.fds);
}

base::Result<std::optional<ExecRequest>> ReceiveRequest(int socket) {
  TRY_ASSIGN(std::optional<Received> received, ReceiveMessage(socket));
  if (!received) return std::optional<ExecRequest>();
  ExecRequest request;
  request.container = text::GetString(received->json, {"container"});
  request.has_terminal = text::GetBool(received->json, {"terminal"}).value_or(false);
  for (const text::Json& word : text::Items(received->json, {"argv"})) {
    if (word.is_string()) request.argv.emplace_back(word.get_string());
  }
  request.fds = std::move(received->fds);
  if (request.argv.empty() || request.fds.size() != (request.has_terminal ? 1U : 3U)) {
    return base::Fail(base::Code::kInvalidArgument, "malformed exec request");
  }
  return std::optional(std::move(request));
}

base::Status SendReply(int socket, const ExecReply& reply) {
  text::Object object;
  switch (reply.kind) {
    case ExecReply::Kind::kStarted:
      object["started"] = true;
      break;
    case ExecReply::Kind::kRefused:
      object["error"] = reply.error;
      break;
    case ExecReply::Kind::kEnded:
      object["exitCode"] = reply.exit_code;
      break;
  }
  return SendMessage(socket, text::ToJson(object), {});
}

base::Result<std::optional<ExecReply>> ReceiveReply(int socket) {
  TRY_ASSIGN(const std::optional<Received> received, ReceiveMessage(socket));
  if (!received) return std::optional<ExecReply>();
  ExecReply reply;
  if (const auto code = text::GetInt(received->json, {"exitCode"})) {
    reply.kind = ExecReply::Kind::kEnded;
    reply.exit_code = static_cast<int>(*code);
  } else if (!text::GetBool(received->json, {"started"}).value_or(false)) {
    reply.kind = ExecReply::Kind::kRefused;
    reply.error = text::GetString(received->json, {"error"});
  }
  return std::optional(std::move(reply));
}

}  // namespace local::node
