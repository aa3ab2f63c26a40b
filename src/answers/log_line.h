// A line of a log without what others have put before it.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace answers {

struct LogLine {
  std::optional<base::Time> time;
  std::optional<int> rank;
  std::string_view pod;  // "" of none
  std::string_view text;
};

// Takes off, in any order and number: an RFC 3339 time (kubectl logs --timestamps, CRI with its
// stream and tag), "[pod/NAME/CONTAINER] " (kubectl logs --prefix), "[NAME-master-0] " (muster logs
// --all), "[rank3]:" (PyTorch), "[default3]:" (torchrun --tee), "[3]: " (muster launch), "3: "
// (srun -l). Escape sequences at the beginning go too. The views are parts of `line`.
LogLine ReadLogLine(std::string_view line);

}  // namespace answers
