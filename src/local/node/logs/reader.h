// Reads a container's log file: from the start, the tail or a given time, and then what is
// appended. A line that one stream has begun does not continue with a line of the other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "local/node/logs/line.h"

namespace local::node {

// One file, which may still grow. Not thread safe.
class LogReader {
 public:
  struct Format {
    bool has_timestamps = false;
    std::optional<int64_t> limit_bytes;  // how many more bytes may be shown
  };

  // kNotFound when nothing has been logged.
  static base::Result<LogReader> Open(const std::string& path);

  // Starts at the last `lines` lines. Reads backwards.
  base::Status SeekToTail(int64_t lines);
  // Skips older records; they are sorted by time.
  base::Status SkipTo(base::Time since);

  // Appends the text of complete records, about `budget` bytes. False at the present end of the
  // file, or when the limit is reached.
  base::Result<bool> Read(Format& format, size_t budget, std::string& text);

 private:
  explicit LogReader(base::Fd fd) : fd_(std::move(fd)) {}
  base::Result<std::string> ReadAt(uint64_t offset, size_t size) const;
  base::Result<uint64_t> Size() const;
  // The end of the hole at `offset` that the writer made (LogWriter); `offset` when there is none.
  base::Result<uint64_t> EndOfHole(uint64_t offset) const;
  void Show(const LogLine& line, bool has_timestamps, std::string& text);
  // The start of the first record at or after `offset`.
  base::Result<uint64_t> NextRecord(uint64_t offset, uint64_t end) const;

  base::Fd fd_;
  uint64_t begin_ = 0;  // everything before is a hole
  uint64_t offset_ = 0;
  std::optional<LogStream> open_;  // whose line the last text shown did not end
  // By stream: whether a line of the other one has ended its open line.
  std::array<bool, 2> was_interrupted_{};
};

}  // namespace local::node
