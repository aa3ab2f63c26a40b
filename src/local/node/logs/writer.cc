#include "local/node/logs/writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/utf8.h"

namespace local::node {
namespace {

// How much may be written before the free space is checked again.
constexpr uint64_t kCheckedBytes = 8 << 20;

// Whether less is free than logs must leave for the store and the programs.
bool IsBelowReserve(int fd) {
  struct statvfs disk{};
  if (::fstatvfs(fd, &disk) != 0) return false;
  const uint64_t total = uint64_t{disk.f_blocks} * disk.f_frsize;
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  return free < std::min(kLogReserveBytes, total / kLogReserveShare);
}

}  // namespace

void LogWriter::Append(LogStream stream, std::string_view output, base::Time now) {
  StreamState& state = streams_[static_cast<size_t>(stream)];
  const std::string timestamp = FormatLogTime(now);
  std::string records;
  records.reserve(output.size() + 64);
  while (!output.empty()) {
    const size_t newline = output.find('\n');
    const std::string_view piece = output.substr(0, newline);
    const size_t room = kMaxLogPiece - std::min(kMaxLogPiece, state.pending.size());
    if (piece.size() > room) {
      state.pending += piece.substr(0, room);
      AppendLogLine({timestamp, stream, true, state.pending}, records);
      state.pending.clear();
      state.is_open = true;
      output.remove_prefix(room);
      continue;
    }
    if (newline == std::string_view::npos) {
      state.pending += piece;
      break;
    }
    if (state.pending.empty()) {
      AppendLogLine({timestamp, stream, false, piece}, records);
    } else {
      state.pending += piece;
      AppendLogLine({timestamp, stream, false, state.pending}, records);
      state.pending.clear();
    }
    state.is_open = false;
    output.remove_prefix(newline + 1);
  }
  Write(records, now);
}

void LogWriter::FlushPartial(LogStream stream, base::Time now) {
  StreamState& state = streams_[static_cast<size_t>(stream)];
  if (state.pending.empty()) return;
  std::string record;
  AppendLogLine({FormatLogTime(now), stream, true, state.pending}, record);
  state.pending.clear();
  state.is_open = true;
  Write(record, now);
}

void LogWriter::End(LogStream stream, base::Time now) {
  StreamState& state = streams_[static_cast<size_t>(stream)];
  if (state.pending.empty() && !state.is_open) return;
  std::string record;
  AppendLogLine({FormatLogTime(now), stream, false, state.pending}, record);
  state.pending.clear();
  state.is_open = false;
  Write(record, now);
}

void LogWriter::Write(std::string_view records, base::Time now) {
  if (records.empty()) return;
  if (!is_loss_noted_) {
    std::string note;
    AppendLogLine({FormatLogTime(now), LogStream::kStderr, false, "muster: " + LossNote()}, note);
    if (TryWrite(note) != note.size()) {
      CountLoss(records, errno);
      return;
    }
    is_loss_noted_ = true;
  }
  const size_t written = TryWrite(records);
  if (written != records.size()) CountLoss(records.substr(written), errno);
}

size_t LogWriter::TryWrite(std::string_view records) {
  if (!fd_) {
    fd_.Reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd_) return 0;
    const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
    size_ = end < 0 ? 0 : static_cast<uint64_t>(end);
  }
  // After a loss, every record checks again.
  if (size_ >= checked_until_ || !is_loss_noted_) {
    if (IsBelowReserve(fd_.get())) {
      errno = 0;
      return 0;
    }
    checked_until_ = size_ + kCheckedBytes;
  }
  size_t written = 0;
  while (written < records.size()) {
    const ssize_t count = ::write(fd_.get(), records.data() + written, records.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int failure = count == 0 ? ENOSPC : errno;
      const size_t newline =
          written == 0 ? std::string_view::npos : records.substr(0, written).rfind('\n');
      const size_t kept = newline == std::string_view::npos ? 0 : newline + 1;
      if (kept != written && ::ftruncate(fd_.get(), static_cast<off_t>(size_ + kept)) != 0) {
        // The incomplete record stays; the next one begins right after it, and readers skip both.
        size_ += written - kept;
      }
      size_ += kept;
      errno = failure;
      return kept;
    }
    written += static_cast<size_t>(count);
  }
  size_ += written;
  if (limit_ != 0 && size_ - cut_ > limit_) Cut();
  return written;
}

void LogWriter::Cut() {
  const base::Fd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return;
  // Twice the longest record, so that a record begins in it.
  std::string block(4 * kMaxLogPiece, '\0');
  const uint64_t from = size_ - limit_ / 2;
  const ssize_t count = ::pread(fd.get(), block.data(), block.size(), static_cast<off_t>(from));
  if (count <= 0) return;
  block.resize(static_cast<size_t>(count));
  const size_t newline = block.find('\n');
  if (newline == std::string::npos) return;
  const uint64_t begin = from + newline + 1;
  // The note gets the time of the record that follows it, so that records stay sorted.
  const std::string_view kept = std::string_view(block).substr(newline + 1);
  const std::string_view timestamp = kept.substr(0, kept.find(' '));
  if (timestamp.size() != kLogTimeSize) return;
  std::string note;
  AppendLogLine({timestamp, LogStream::kStderr, false,
                 fmt::format("muster: log truncated: {} older bytes were removed here "
                             "(local.log_limit: {} bytes)",
                             begin, limit_)},
                note);
  const uint64_t note_at = begin - note.size();
  if (note_at <= cut_) return;
  if (::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(cut_),
                  static_cast<off_t>(note_at - cut_)) != 0) {
    limit_ = 0;
    return;
  }
  [[maybe_unused]] const ssize_t written =
      ::pwrite(fd.get(), note.data(), note.size(), static_cast<off_t>(note_at));
  cut_ = note_at;
}

void LogWriter::CountLoss(std::string_view records, int os_errno) {
  while (!records.empty()) {
    const size_t newline = records.find('\n');
    if (const auto line = ParseLogLine(records.substr(0, newline))) {
      lost_bytes_ += line->text.size() + (line->is_partial ? 0 : 1);
    }
    records.remove_prefix(newline == std::string_view::npos ? records.size() : newline + 1);
  }
  loss_errno_ = os_errno;
  is_loss_noted_ = false;
}

std::string LogWriter::LossNote() const {
  if (lost_bytes_ == 0) return "";
  const char* why = loss_errno_ == 0 ? "the disk is nearly full" : std::strerror(loss_errno_);
  return fmt::format("log truncated: {}, {} bytes lost", why, lost_bytes_);
}

void OutputTail::Append(std::string_view output) {
  if (output.size() >= kMaxBytes) {
    bytes_ = output.substr(output.size() - kMaxBytes);
    return;
  }
  bytes_ += output;
  if (bytes_.size() > 2 * kMaxBytes) bytes_.erase(0, bytes_.size() - kMaxBytes);
}

std::string OutputTail::Text() const {
  std::string_view text = bytes_;
  if (text.size() > kMaxBytes) text.remove_prefix(text.size() - kMaxBytes);
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  size_t begin = text.size();
  for (size_t lines = 0; lines < kMaxLines && begin != 0; ++lines) {
    const size_t newline = text.rfind('\n', begin - 1);
    if (newline == std::string_view::npos) {
      begin = 0;
      break;
    }
    begin = newline;
  }
  if (begin != 0) text.remove_prefix(begin + 1);
  return base::ToValidUtf8(text);
}

}  // namespace local::node
