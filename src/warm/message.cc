#include "warm/message.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/clock.h"
#include "base/strings.h"
#include "process/pidfd.h"

namespace warm {
namespace {

constexpr size_t kHeaderBytes = 4;
// Longer than any message of a keeper.
constexpr size_t kLongestMessage = 1 << 20;
constexpr size_t kMostFds = 4;

size_t LengthIn(const std::string& bytes) {
  size_t length = 0;
  for (size_t i = kHeaderBytes; i-- > 0;) length = length << 8 | static_cast<uint8_t>(bytes[i]);
  return length;
}

std::vector<int> FdsIn(msghdr& header) {
  std::vector<int> fds;
  for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    fds.resize(count);
    std::memcpy(fds.data(), CMSG_DATA(each), count * sizeof(int));
  }
  return fds;
}

base::Status Gone() {
  return base::Fail(base::Code::kUnavailable, "the interpreter that keeps the ranks has ended");
}

}  // namespace

base::Status SendMessage(int socket, const Message& message, const std::vector<int>& fds) {
  const std::string text = base::Join(message, std::string_view("\0", 1));
  std::string bytes;
  for (size_t i = 0; i < kHeaderBytes; ++i) bytes += static_cast<char>(text.size() >> (8 * i));
  bytes += text;

  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int))> control{};
  size_t sent = 0;
  while (sent < bytes.size()) {
    iovec part{bytes.data() + sent, bytes.size() - sent};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (sent == 0 && !fds.empty()) {
      header.msg_control = control.data();
      header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
      cmsghdr* const first = CMSG_FIRSTHDR(&header);
      first->cmsg_level = SOL_SOCKET;
      first->cmsg_type = SCM_RIGHTS;
      first->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      std::memcpy(CMSG_DATA(first), fds.data(), fds.size() * sizeof(int));
    }
    const ssize_t count = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      return Gone();
    }
  }
  return {};
}

base::Status MessageReader::Read(int socket) {
  std::array<char, 4096> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int))> control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count >= 0) {
    for (const int fd : FdsIn(header)) fd_.Reset(fd);
  }
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (count <= 0) return Gone();
  held_.append(bytes.data(), static_cast<size_t>(count));
  if (held_.size() >= kHeaderBytes && LengthIn(held_) > kLongestMessage) return Gone();
  return {};
}

std::optional<Message> MessageReader::Next() {
  if (held_.size() < kHeaderBytes) return std::nullopt;
  const size_t length = LengthIn(held_);
  if (length > kLongestMessage || held_.size() < kHeaderBytes + length) return std::nullopt;
  Message message = base::Split(held_.substr(kHeaderBytes, length), '\0');
  held_.erase(0, kHeaderBytes + length);
  return message;
}

base::Result<Message> MessageReader::Await(int socket, std::chrono::milliseconds timeout) {
  base::Clock& clock = base::SystemClock();
  const auto until = clock.Steady() + timeout;
  while (true) {
    if (auto message = Next()) return std::move(*message);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock.Steady());
    TRY(process::WaitReadable(socket, std::max(left, std::chrono::milliseconds(0))));
    TRY(Read(socket));
  }
}

}  // namespace warm
