#include "rendezvous/sockets/output_queue.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace rendezvous {
namespace {

constexpr size_t kPiecesPerSend = 16;
constexpr int kSendFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
constexpr size_t kKeptCapacity = 64 << 10;

// Adds data[skip..], or reduces `skip` by the bytes skipped here.
void AddPiece(std::array<iovec, kPiecesPerSend>& pieces, size_t& count, std::string_view data,
              size_t& skip) {
  const size_t passed = std::min(skip, data.size());
  skip -= passed;
  data.remove_prefix(passed);
  if (data.empty() || count == pieces.size()) return;
  pieces[count++] = {const_cast<char*>(data.data()), data.size()};
}

}  // namespace

void OutputQueue::AppendShared(std::shared_ptr<const std::string> bytes) {
  shared_bytes_ += bytes->size();
  shared_.push_back({text_.size(), std::move(bytes)});
}

void OutputQueue::Reset() {
  shared_.clear();
  shared_bytes_ = 0;
  sent_ = 0;
  text_.clear();
  if (text_.capacity() > kKeptCapacity) text_.shrink_to_fit();
}

ssize_t OutputQueue::SendPieces(int fd) const {
  std::array<iovec, kPiecesPerSend> pieces;
  size_t count = 0;
  size_t skip = sent_;
  size_t at = 0;
  const std::string_view text = text_;
  for (const Shared& shared : shared_) {
    AddPiece(pieces, count, text.substr(at, shared.at - at), skip);
    at = shared.at;
    AddPiece(pieces, count, *shared.bytes, skip);
  }
  AddPiece(pieces, count, text.substr(at), skip);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  return ::sendmsg(fd, &message, kSendFlags);
}

OutputQueue::Flushed OutputQueue::Flush(int fd) {
  while (!empty()) {
    const ssize_t sent = shared_.empty()
                             ? ::send(fd, text_.data() + sent_, text_.size() - sent_, kSendFlags)
                             : SendPieces(fd);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? Flushed::kBlocked : Flushed::kBroken;
    }
    sent_ += static_cast<size_t>(sent);
  }
  Reset();
  return Flushed::kAll;
}

}  // namespace rendezvous
