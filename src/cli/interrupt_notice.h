// InterruptNotice: the last words of a command that may be interrupted at any time.
#pragma once

#include <signal.h>

#include <array>
#include <string>

namespace cli {

// As long as it lives, Ctrl-C and SIGTERM say `notice` on stderr, whole as it is, and end the
// program with `exit_code`, whatever it waits for. One at a time.
class InterruptNotice {
 public:
  explicit InterruptNotice(std::string notice, int exit_code);
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;
  ~InterruptNotice();

 private:
  static constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace cli
