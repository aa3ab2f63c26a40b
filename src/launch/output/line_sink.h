// Writes lines of many writers to one descriptor without mixing them. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace launch {

// Collects text and writes it with Flush. Does not own the descriptor. After a failed write it
// drops everything; where the disk is full, only what it has, and the next text begins with a line
// that says how much was lost.
class LineSink {
 public:
  explicit LineSink(int fd) : fd_(fd) {}

  // Adds whole lines of the writer `owner`, each with `prefix`.
  void AppendLines(uint64_t owner, std::string_view prefix, std::string_view lines);
  // Adds part of a line whose end has not come yet.
  void AppendPart(uint64_t owner, std::string_view prefix, std::string_view part);
  // Blocks while the reader is slow.
  void Flush();
  // Called before and after Flush writes, if there is something to write.
  void SetAround(std::function<void()> before, std::function<void()> after) {
    before_ = std::move(before);
    after_ = std::move(after);
  }

  // Called once, with the error of the first write that fails.
  void OnFailure(std::function<void(int error)> on_failure) { on_failure_ = std::move(on_failure); }

  // Whether everything is dropped.
  bool has_failed() const { return has_failed_; }

  // The writer of the unfinished line; 0 if there is none.
  uint64_t open_owner() const { return open_owner_; }
  bool has_open_line() const { return open_owner_ != 0; }
  // Whether its writer overwrites the unfinished line: a progress bar.
  bool is_overwritten() const { return is_overwritten_; }

 private:
  void BeginLine(uint64_t owner);
  void Fail(int error, size_t lost);

  int fd_;
  std::function<void()> before_;
  std::function<void()> after_;
  std::string buffer_;
  uint64_t open_owner_ = 0;
  bool is_overwritten_ = false;
  bool has_failed_ = false;
  size_t lost_ = 0;  // bytes, since the disk is full
  std::function<void(int error)> on_failure_;
};

}  // namespace launch
