// Lines of many writers on one descriptor, never torn. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace launch {

// Collects what is to be written and writes it at once. Does not own the descriptor. After a
// failed write everything is dropped.
class LineSink {
 public:
  explicit LineSink(int fd) : fd_(fd) {}

  // Whole lines of the writer `owner`; each gets `prefix`.
  void AppendLines(uint64_t owner, std::string_view prefix, std::string_view lines);
  // A piece of a line whose end is still to come.
  void AppendPart(uint64_t owner, std::string_view prefix, std::string_view part);
  // Blocks while the reader is slow.
  void Flush();
  // Called around what Flush writes, when that is something.
  void SetAround(std::function<void()> before, std::function<void()> after) {
    before_ = std::move(before);
    after_ = std::move(after);
  }

  // Whose unfinished line stands last; 0 is nobody.
  uint64_t open_owner() const { return open_owner_; }
  bool has_open_line() const { return open_owner_ != 0; }
  // The unfinished line is one that its writer overwrites: a progress bar.
  bool is_overwritten() const { return is_overwritten_; }

 private:
  void BeginLine(uint64_t owner);

  int fd_;
  std::function<void()> before_;
  std::function<void()> after_;
  std::string buffer_;
  uint64_t open_owner_ = 0;
  bool is_overwritten_ = false;
  bool has_failed_ = false;
};

}  // namespace launch
