#include "watch/terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

namespace watch {
namespace {

// Alternate screen without cursor, and back with colours off.
constexpr std::string_view kTake = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kGiveBack = "\x1b[0m\x1b[?25h\x1b[?1049l";

// The earlier settings; a signal handler reads them.
termios before;
volatile sig_atomic_t is_raw = 0;

void GiveBack() {
  if (is_raw == 0) return;
  is_raw = 0;
  for (std::string_view rest = kGiveBack; !rest.empty();) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

// Only calls functions that POSIX permits in a signal handler.
void OnCrash(int number) {
  GiveBack();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

bool TakeIt() {
  if (is_raw == 0 && ::tcgetattr(STDIN_FILENO, &before) != 0) return false;
  termios raw = before;
  ::cfmakeraw(&raw);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0) return false;
  is_raw = 1;
  return Terminal::Write(kTake);
}

}  // namespace

base::Result<Terminal> Terminal::Take() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return base::Fail(base::Code::kInvalidArgument, "no terminal");
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(number, OnCrash);
  ::signal(SIGPIPE, SIG_IGN);
  if (!TakeIt()) return base::Fail(base::Errno(errno, "set the terminal"));
  Terminal terminal;
  terminal.is_taken_ = true;
  return terminal;
}

Terminal::~Terminal() {
  if (is_taken_) GiveBack();
}

Terminal::Terminal(Terminal&& other) noexcept : is_taken_(std::exchange(other.is_taken_, false)) {}

std::pair<size_t, size_t> Terminal::Size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {80, 24};
  }
  return {size.ws_col, size.ws_row};
}

bool Terminal::Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void Terminal::Suspend() { GiveBack(); }

void Terminal::Resume() { is_taken_ = TakeIt() || is_taken_; }

}  // namespace watch
