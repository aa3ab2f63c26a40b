// What a launcher prints once a rank has failed: torchrun's table, and muster-launch's explanation.
// Pure.
#pragma once

#include <string_view>

namespace arena {

// Reads the launcher's own lines of one instance, in their order, and says which belong to such a
// report. A user who sees the verdict afterwards needs none of them: the ranks have printed their
// tracebacks themselves.
class LauncherReport {
 public:
  bool Contains(std::string_view line);

 private:
  enum class Part { kNone, kTable, kExplanation };

  Part part_ = Part::kNone;
  int borders_ = 0;  // of the table, so far
  int lines_ = 0;    // of the part
};

}  // namespace arena
