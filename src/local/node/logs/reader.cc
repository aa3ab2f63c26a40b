#include "local/node/logs/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "local/node/logs/line.h"

namespace local::node {
namespace {

constexpr size_t kBlock = 64 << 10;
// Enough to see that a log has no hole.
constexpr size_t kFirstLook = 4 << 10;
// Far above kMaxLogPiece; a longer record was not written by us, and is shown in pieces.
constexpr size_t kMaxRecord = 1 << 20;

}  // namespace

base::Result<LogReader> LogReader::Open(const std::string& path) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return base::Fail(base::Errno(errno, "open " + path));
  LogReader reader(std::move(fd));
  TRY_ASSIGN(reader.begin_, reader.EndOfHole(0));
  reader.offset_ = reader.begin_;
  return reader;
}

base::Result<uint64_t> LogReader::EndOfHole(uint64_t offset) const {
  for (size_t look = kFirstLook;; look = kBlock) {
    TRY_ASSIGN(const std::string block, ReadAt(offset, look));
    const size_t byte = block.find_first_not_of('\0');
    if (byte != std::string::npos) return offset + byte;
    if (block.empty()) return offset;
    const off_t data = ::lseek(fd_.get(), static_cast<off_t>(offset + block.size()), SEEK_DATA);
    offset = data < 0 ? offset + block.size() : static_cast<uint64_t>(data);
  }
}

base::Result<std::string> LogReader::ReadAt(uint64_t offset, size_t size) const {
  const auto bytes = std::make_unique_for_overwrite<char[]>(size);
  size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(fd_.get(), bytes.get() + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::Fail(base::Errno(errno, "read log"));
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return std::string(bytes.get(), done);
}

base::Result<uint64_t> LogReader::Size() const {
  struct stat info{};
  if (::fstat(fd_.get(), &info) != 0) return base::Fail(base::Errno(errno, "stat log"));
  return static_cast<uint64_t>(info.st_size);
}

base::Status LogReader::SeekToTail(int64_t lines) {
  TRY_ASSIGN(uint64_t base, Size());
  std::string window;               // the bytes [base, base + window.size())
  std::optional<LogStream> behind;  // of the record behind the one that is examined
  bool is_last = true;              // no record has been examined yet
  int64_t ends = 0;
  const auto grow = [&]() -> base::Status {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(kBlock, base - begin_));
    TRY_ASSIGN(std::string block, ReadAt(base - count, count));
    if (block.size() != count) return base::Fail(base::Code::kInternal, "log became shorter");
    base -= count;
    if (block.front() == '\0') {  // it was cut off meanwhile
      const size_t hole = std::min(block.find_first_not_of('\0'), block.size());
      base += hole;
      begin_ = base;
      block.erase(0, hole);
    }
    window.insert(0, block);
    return {};
  };
  // The text after the last newline is still being written.
  while (base > begin_ && window.find('\n') == std::string::npos) TRY(grow());
  window.resize(window.rfind('\n') + 1);
  while (!window.empty() || base > begin_) {
    size_t before = window.size() < 2 ? std::string::npos : window.rfind('\n', window.size() - 2);
    while (before == std::string::npos && base > begin_) {
      TRY(grow());
      before = window.size() < 2 ? std::string::npos : window.rfind('\n', window.size() - 2);
    }
    const size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::string_view record =
        std::string_view(window).substr(begin, window.size() - begin - 1);
    const auto line = ParseLogLine(record);
    if (is_last || !line || !line->is_partial || behind != line->stream) {
      if (++ends > lines) break;
    }
    behind = line ? std::optional(line->stream) : std::nullopt;
    is_last = false;
    window.resize(begin);
  }
  offset_ = std::max(offset_, base + window.size());
  return {};
}

base::Result<uint64_t> LogReader::NextRecord(uint64_t offset, uint64_t end) const {
  if (offset <= begin_) return begin_;
  for (uint64_t at = offset - 1; at < end; at += kBlock) {
    TRY_ASSIGN(const std::string block, ReadAt(at, kBlock));
    const size_t newline = block.find('\n');
    if (newline != std::string::npos) return std::min(end, at + newline + 1);
  }
  return end;
}

base::Status LogReader::SkipTo(base::Time since) {
  const std::string wanted = FormatLogTime(since);
  TRY_ASSIGN(const uint64_t size, Size());
  uint64_t low = offset_;  // a record that is too old, or the start
  uint64_t high = size;    // a record that is recent enough, or the end
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    TRY_ASSIGN(const uint64_t record, NextRecord(middle, high));
    TRY_ASSIGN(const std::string stamp, ReadAt(record, wanted.size()));
    if (record < high && stamp < wanted) {
      low = record + 1;
    } else {
      high = middle;
    }
  }
  TRY_ASSIGN(offset_, NextRecord(low, size));
  return {};
}

void LogReader::Show(const LogLine& line, bool has_timestamps, std::string& text) {
  if (open_ && *open_ != line.stream) {
    text += '\n';
    was_interrupted_[static_cast<size_t>(*open_)] = true;
    open_.reset();
  }
  const bool is_rest = std::exchange(was_interrupted_[static_cast<size_t>(line.stream)], false);
  if (is_rest && line.text.empty() && !line.is_partial) return;
  if (has_timestamps && !open_) (text += line.timestamp) += ' ';
  text += line.text;
  if (line.is_partial) {
    open_ = line.stream;
  } else {
    text += '\n';
    open_.reset();
  }
}

base::Result<bool> LogReader::Read(Format& format, size_t budget, std::string& text) {
  if (format.limit_bytes && *format.limit_bytes <= 0) return false;
  TRY_ASSIGN(std::string block, ReadAt(offset_, std::max(budget, kBlock)));
  if (!block.empty() && block.front() == '\0') {  // a record begins with its time
    TRY_ASSIGN(offset_, EndOfHole(offset_));
    TRY_ASSIGN(block, ReadAt(offset_, std::max(budget, kBlock)));
  }
  size_t whole = block.rfind('\n');
  if (whole == std::string::npos) {
    if (block.size() < kBlock) return false;
    TRY_ASSIGN(block, ReadAt(offset_, kMaxRecord));
    whole = block.find('\n');
    if (whole == std::string::npos) {
      if (block.size() < kMaxRecord) return false;
      whole = block.size() - 1;
    }
  }
  std::string_view rest(block.data(), whole + 1);
  offset_ += rest.size();
  const size_t before = text.size();
  while (!rest.empty()) {
    const size_t newline = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view record = rest.substr(0, newline);
    if (const auto line = ParseLogLine(record)) {
      Show(*line, format.has_timestamps, text);
    } else {
      (text += record) += '\n';
      open_.reset();
    }
    rest.remove_prefix(newline + 1);
  }
  if (format.limit_bytes) {
    const auto room = static_cast<size_t>(*format.limit_bytes);
    if (text.size() - before > room) text.resize(before + room);
    *format.limit_bytes -= static_cast<int64_t>(text.size() - before);
  }
  return true;
}

}  // namespace local::node
