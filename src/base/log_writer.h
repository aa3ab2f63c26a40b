// Where log lines go (log.h).
#pragma once

#include <functional>
#include <string_view>

namespace base {

// Passes log lines to `write` instead of stderr, one whole line per call, so that whoever draws on
// the terminal can keep the lines apart from its drawing. Any thread that logs may call it, one at
// a time; it must not log itself. An empty function restores stderr.
void SetLogWriter(std::function<void(std::string_view line)> write);

}  // namespace base
