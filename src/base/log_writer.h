// Where log lines go (log.h).
#pragma once

#include <functional>
#include <string_view>

namespace base {

// Takes whole lines, which go to stderr otherwise: whoever draws on the terminal keeps what it has
// drawn apart from them. Called by any thread that logs, one at a time; must not log itself. An
// empty one ends that.
void SetLogWriter(std::function<void(std::string_view line)> write);

}  // namespace base
