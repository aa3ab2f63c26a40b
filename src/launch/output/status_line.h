// A line at the bottom of a terminal that shows the ranks' state, below the programs' output.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"

namespace launch {

// Whether stdout and stderr are terminals that understand cursor movements.
bool CanShowStatus(const base::Environment& environment);

// A line's text as a terminal finally shows it: without escape sequences and what a progress bar
// has overwritten.
std::string VisibleText(std::string_view line);

// `text` without control characters, cut to `columns` (bytes count as columns; never cuts inside a
// character).
std::string FitToColumns(std::string_view text, size_t columns);

// Used by one thread. Does not own the descriptor; a failed write is ignored.
class StatusLine {
 public:
  explicit StatusLine(int fd) : fd_(fd) {}

  // Does nothing if the line is unchanged.
  void Draw(std::string_view text);
  // Call it before anything else is written to the terminal.
  void Erase();

 private:
  void Write(std::string_view bytes) const;

  int fd_;
  std::string drawn_;
};

}  // namespace launch
