// One line at the bottom of a terminal that says how the ranks are. Program output goes above it.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"

namespace launch {

// stdout and stderr are terminals that understand cursor movements.
bool CanShowStatus(const base::Environment& environment);

// What a terminal is left with of a line: nothing of colours and the like, and what has been
// written over by a progress bar is gone.
std::string VisibleText(std::string_view line);

// `text` without control characters, cut to `columns` (bytes count as columns; characters are not
// cut in two).
std::string FitToColumns(std::string_view text, size_t columns);

// Used by one thread. Does not own the descriptor; a failed write is ignored.
class StatusLine {
 public:
  explicit StatusLine(int fd) : fd_(fd) {}

  // Does not draw a line that is there already.
  void Draw(std::string_view text);
  // Before anything else is written to the terminal.
  void Erase();

 private:
  void Write(std::string_view bytes) const;

  int fd_;
  std::string drawn_;
};

}  // namespace launch
