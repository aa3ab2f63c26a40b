#include "cli/interrupt_notice.h"

#include <unistd.h>

#include <utility>

namespace cli {
namespace {

// For the signal handler, which may do little.
std::string g_last_words;
int g_last_code = 0;

void SayLastWords(int) {
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, g_last_words.data(), g_last_words.size());
  ::_exit(g_last_code);
}

}  // namespace

InterruptNotice::InterruptNotice(std::string notice, int exit_code) {
  g_last_words = std::move(notice);
  g_last_code = exit_code;
  struct sigaction action{};
  action.sa_handler = SayLastWords;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &before_[i]);
  }
}

InterruptNotice::~InterruptNotice() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

}  // namespace cli
