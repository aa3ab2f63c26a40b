#include "launch/output/line_sink.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace launch {
namespace {

constexpr size_t kFlushBytes = 1 << 20;

}  // namespace

void LineSink::BeginLine(uint64_t owner) {
  if (open_owner_ != 0 && open_owner_ != owner) {
    buffer_ += '\n';
    open_owner_ = 0;
  }
}

void LineSink::AppendLines(uint64_t owner, std::string_view prefix, std::string_view lines) {
  if (has_failed_ || lines.empty()) return;
  BeginLine(owner);
  if (prefix.empty()) {
    buffer_ += lines;
  } else {
    const char* at = lines.data();
    const char* const end = at + lines.size();
    bool continues = open_owner_ == owner;
    while (at < end) {
      const auto* const newline =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
      const char* const line_end = newline == nullptr ? end : newline + 1;
      if (!continues) buffer_.append(prefix);
      continues = false;
      buffer_.append(at, static_cast<size_t>(line_end - at));
      at = line_end;
    }
  }
  open_owner_ = lines.back() == '\n' ? 0 : owner;
  is_overwritten_ =
      open_owner_ != 0 && lines.find('\r', lines.rfind('\n') + 1) != std::string::npos;
  if (buffer_.size() >= kFlushBytes) Flush();
}

void LineSink::AppendPart(uint64_t owner, std::string_view prefix, std::string_view part) {
  if (has_failed_ || part.empty()) return;
  BeginLine(owner);
  if (open_owner_ == 0) buffer_ += prefix;
  buffer_ += part;
  is_overwritten_ = (open_owner_ == owner && is_overwritten_) || part.find('\r') != part.npos;
  open_owner_ = owner;
}

void LineSink::Fail(int error, size_t lost) {
  const bool may_be_better_later = error == ENOSPC || error == EDQUOT;
  has_failed_ = !may_be_better_later;
  lost_ += lost;
  if (on_failure_) std::exchange(on_failure_, nullptr)(error);
}

void LineSink::Flush() {
  if (buffer_.empty()) return;
  if (before_) before_();
  const size_t lost = std::exchange(lost_, 0);
  const size_t own = buffer_.size();
  if (lost > 0) {
    buffer_.insert(0, fmt::format("\nmuster-launch: {} bytes are missing here: {}\n", lost,
                                  std::strerror(ENOSPC)));
  }
  std::string_view left = buffer_;
  while (!left.empty() && !has_failed_) {
    const ssize_t written = ::write(fd_, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd item{fd_, POLLOUT, 0};
      ::poll(&item, 1, -1);
    } else if (errno != EINTR) {
      Fail(errno, left.size() > own ? lost + own : left.size());
      break;
    }
  }
  buffer_.clear();
  if (after_) after_();
}

}  // namespace launch
