// Reads a container's log file: from the start, the tail or a time on, now and later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace local::node {

// One file, which may still be written to. Not thread safe.
class LogReader {
 public:
  struct Format {
    bool has_timestamps = false;
    std::optional<int64_t> limit_bytes;  // of what is still to be shown; counts down
  };

  // kNotFound when nothing has been logged.
  static base::Result<LogReader> Open(const std::string& path);

  // Starts at the last `lines` lines. Reads backwards.
  base::Status SeekToTail(int64_t lines);
  // Skips what is older; records are in order of time.
  base::Status SkipTo(base::Time since);

  // Appends the program's text of whole records, about `budget` bytes of them. False when nothing
  // more is there now, or the limit is reached.
  base::Result<bool> Read(Format& format, size_t budget, std::string& text);

 private:
  explicit LogReader(base::Fd fd) : fd_(std::move(fd)) {}
  base::Result<std::string> ReadAt(uint64_t offset, size_t size) const;
  base::Result<uint64_t> Size() const;
  // Where the hole at `offset` ends, that the writer made (LogWriter); `offset` where there is
  // none.
  base::Result<uint64_t> EndOfHole(uint64_t offset) const;
  // Where the first record that begins at or after `offset` begins.
  base::Result<uint64_t> NextRecord(uint64_t offset, uint64_t end) const;

  base::Fd fd_;
  uint64_t begin_ = 0;  // before, there is a hole
  uint64_t offset_ = 0;
  bool is_line_open_ = false;  // the last text shown did not end a line
};

}  // namespace local::node
