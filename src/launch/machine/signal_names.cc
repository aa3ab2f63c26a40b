#include "launch/machine/signal_names.h"

#include <signal.h>
#include <string.h>

#include "base/strings.h"

namespace launch {

std::optional<int> SignalNumber(std::string_view name) {
  std::string upper = base::ToUpper(name);
  if (upper.starts_with("SIG")) upper.erase(0, 3);
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* const known = ::sigabbrev_np(signal);
    if (known == nullptr || upper != known) continue;
    if (signal == SIGKILL || signal == SIGSTOP) return std::nullopt;
    return signal;
  }
  return std::nullopt;
}

}  // namespace launch
