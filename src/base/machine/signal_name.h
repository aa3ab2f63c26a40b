#pragma once

#include <string>

namespace base {

// "SIGTERM"; "" if the number has no name.
std::string SignalName(int signal);

}  // namespace base
