// The terminal while `watch` uses it: raw, without a cursor, on the alternate screen. It is
// restored however the program ends, except by SIGKILL.
#pragma once

#include <string_view>
#include <utility>

#include "base/result.h"

namespace watch {

// One at a time. One thread.
class Terminal {
 public:
  // kInvalidArgument if stdin or stdout is not a terminal.
  static base::Result<Terminal> Take();
  ~Terminal();
  Terminal(Terminal&& other) noexcept;
  Terminal& operator=(Terminal&&) = delete;

  // Columns and rows; 80 and 24 if unknown.
  static std::pair<size_t, size_t> Size();
  // Writes everything. False if the terminal is gone.
  static bool Write(std::string_view text);

  // Restores the terminal for another program or a shell, until Resume, which clears it.
  void Suspend();
  void Resume();

 private:
  Terminal() = default;

  bool is_taken_ = false;
};

}  // namespace watch
