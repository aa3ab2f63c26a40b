// Writes what a container prints to its log file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/fd.h"
#include "local/node/logs/line.h"

namespace local::node {

// A longer piece without a newline is written as partial records (containerd's limit).
inline constexpr size_t kMaxLogPiece = 16 << 10;

// How much disk space logs leave free: this much, or 1/kLogReserveShare of the disk if that is
// less, so that endless output cannot fill it.
inline constexpr uint64_t kLogReserveBytes = 1 << 30;
inline constexpr uint64_t kLogReserveShare = 20;

// Writes to a file that others only read. Never blocks on a full disk and never fails: output that
// does not fit is dropped, counted, and noted in the log once there is room again. The file always
// ends with a complete record. Not thread safe.
class LogWriter {
 public:
  // Beyond `limit` bytes, the older part of the file becomes a hole, followed by a note; at least
  // the newest half of the limit stays, and offsets do not change. 0: no limit. File systems
  // without holes have none either.
  explicit LogWriter(std::string path, uint64_t limit = 0)
      : path_(std::move(path)), limit_(limit) {}

  // Writes the complete lines of the output. The rest waits for its newline, for FlushPartial or
  // for End.
  void Append(LogStream stream, std::string_view output, base::Time now);
  bool HasPartial(LogStream stream) const { return !Pending(stream).empty(); }
  // Writes the unfinished line of `stream` as a partial record.
  void FlushPartial(LogStream stream, base::Time now);
  // The program has closed the stream: completes an unfinished line.
  void End(LogStream stream, base::Time now);

  uint64_t lost_bytes() const { return lost_bytes_; }
  // "log truncated: the disk is nearly full, 4096 bytes lost"; "" when there was no loss.
  std::string LossNote() const;
  // The same, as long as the log itself does not contain it.
  std::string UnreportedLoss() const { return is_loss_noted_ ? "" : LossNote(); }

 private:
  struct StreamState {
    std::string pending;   // unfinished line
    bool is_open = false;  // a partial record was written and is not complete yet
  };

  const std::string& Pending(LogStream stream) const {
    return streams_[static_cast<size_t>(stream)].pending;
  }
  void Write(std::string_view records, base::Time now);
  // Returns how much of `records` was written; if not all, sets errno, to 0 for the reserve.
  size_t TryWrite(std::string_view records);
  void CountLoss(std::string_view records, int os_errno);
  void Cut();

  std::string path_;
  base::Fd fd_;
  uint64_t limit_;
  uint64_t size_ = 0;
  uint64_t cut_ = 0;            // everything before is a hole
  uint64_t checked_until_ = 0;  // the file size at which the free space is checked again
  std::array<StreamState, 2> streams_;
  uint64_t lost_bytes_ = 0;
  bool is_loss_noted_ = true;
  int loss_errno_ = 0;  // 0: the reserve
};

// The end of a container's output, used in the message of a failed one.
class OutputTail {
 public:
  static constexpr size_t kMaxBytes = 2048;
  static constexpr size_t kMaxLines = 24;  // a launcher's report of a failed rank fits

  void Append(std::string_view output);
  // At most kMaxLines lines and kMaxBytes bytes, valid UTF-8, no final newline.
  std::string Text() const;

 private:
  std::string bytes_;
};

}  // namespace local::node
