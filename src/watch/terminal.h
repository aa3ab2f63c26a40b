// The terminal while `watch` has it: raw, without a cursor, on its second screen. What it was is
// put back however the program ends, but by SIGKILL.
#pragma once

#include <string_view>
#include <utility>

#include "base/result.h"

namespace watch {

// One at a time. One thread.
class Terminal {
 public:
  // kInvalidArgument when stdin or stdout is none.
  static base::Result<Terminal> Take();
  ~Terminal();
  Terminal(Terminal&& other) noexcept;
  Terminal& operator=(Terminal&&) = delete;

  // Columns and rows; 80 and 24 where it does not say.
  static std::pair<size_t, size_t> Size();
  // All of it. False when nobody reads any more.
  static bool Write(std::string_view text);

  // As it was, for another program or a shell; Resume takes it again, empty.
  void Suspend();
  void Resume();

 private:
  Terminal() = default;

  bool is_taken_ = false;
};

}  // namespace watch
