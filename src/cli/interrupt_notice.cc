#include "cli/interrupt_notice.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace cli {
namespace {

constexpr std::array<int, 3> kInterrupts = {SIGINT, SIGTERM, SIGHUP};

// For the signal handler, which may do little and may run on any thread.
std::atomic<const std::string*> g_words = nullptr;
std::atomic<const std::string*> g_in_doubt = nullptr;
std::atomic<bool> g_is_held = false;
std::atomic<bool> g_has_come = false;
std::atomic<int> g_code = 0;
std::array<struct sigaction, kInterrupts.size()> g_previous;

void EndWith(const std::string& words) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, words.data(), words.size());
  ::_exit(g_code);
}

void OnInterrupt(int) {
  // Written in this order, because Release reads them in the reverse order.
  const bool is_first = !g_has_come.exchange(true);
  if (!g_is_held) EndWith(*g_words);
  if (!is_first) EndWith(*g_in_doubt);
}

}  // namespace

InterruptNotice::InterruptNotice(std::string words, int exit_code) {
  g_code = exit_code;
  g_has_come = false;
  Say(std::move(words));
  struct sigaction action{};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kInterrupts.size(); ++i) {
    ::sigaction(kInterrupts[i], nullptr, &g_previous[i]);
    if (g_previous[i].sa_handler != SIG_IGN) ::sigaction(kInterrupts[i], &action, nullptr);
  }
}

InterruptNotice::~InterruptNotice() {
  for (size_t i = 0; i < kInterrupts.size(); ++i) {
    ::sigaction(kInterrupts[i], &g_previous[i], nullptr);
  }
}

const std::string* InterruptNotice::Keep(std::string words) {
  // The text begins on a new line, after the terminal's ^C.
  return &lines_.emplace_back(fmt::format("\n{}\n", words));
}

void InterruptNotice::Say(std::string words) { g_words = Keep(std::move(words)); }

void InterruptNotice::Hold(std::string in_doubt) {
  g_in_doubt = Keep(std::move(in_doubt));
  g_is_held = true;
}

void InterruptNotice::Release() {
  g_is_held = false;
  if (g_has_come) EndWith(*g_words);
}

}  // namespace cli
