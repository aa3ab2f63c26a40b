#include "net/http/output_queue.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <utility>

namespace net {
namespace {

// The most pieces per system call; IOV_MAX is 1024.
constexpr size_t kMaxIovecs = 64;

}  // namespace

void OutputQueue::Push(std::string bytes) {
  if (bytes.empty()) return;
  bytes_ += bytes.size();
  pieces_.push_back(std::move(bytes));
}

OutputQueue::Outcome OutputQueue::WriteTo(int socket) {
  while (!is_empty()) {
    std::array<iovec, kMaxIovecs> parts;
    size_t count = 0;
    for (size_t i = first_; i < pieces_.size() && count < parts.size(); ++i, ++count) {
      const size_t skip = i == first_ ? offset_ : 0;
      parts[count] = {pieces_[i].data() + skip, pieces_[i].size() - skip};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t written = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (written >= 0) {
      Drop(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      return Outcome::kWouldBlock;
    } else if (errno != EINTR) {
      return Outcome::kBroken;
    }
  }
  Clear();
  return Outcome::kAllWritten;
}

void OutputQueue::Drop(size_t bytes) {
  bytes_ -= bytes;
  while (bytes > 0) {
    std::string& piece = pieces_[first_];
    const size_t rest = piece.size() - offset_;
    if (bytes < rest) {
      offset_ += bytes;
      return;
    }
    bytes -= rest;
    std::string().swap(piece);
    ++first_;
    offset_ = 0;
  }
}

}  // namespace net
