#include "base/machine/signal_name.h"

#include <string.h>

namespace base {

std::string SignalName(int signal) {
  const char* const known = ::sigabbrev_np(signal);
  return known == nullptr ? std::string() : std::string("SIG") + known;
}

}  // namespace base
