#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace cli {

FdOutput::FdOutput(int fd) : fd_(fd), is_terminal_(::isatty(fd) == 1) {}

base::Status FdOutput::Write(std::string_view text) {
  while (failed_errno_ == 0 && !text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      failed_errno_ = errno;
    }
  }
  if (failed_errno_ != 0) {
    return base::Fail(base::Errno(
        failed_errno_, fd_ == STDERR_FILENO ? "write standard error" : "write standard output"));
  }
  return {};
}

int FdOutput::Width() const {
  winsize size{};
  return is_terminal_ && ::ioctl(fd_, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// What a terminal that is gone makes of it concerns nobody, so errors of Write are dropped here.
void LinePrinter::Status(std::string_view line) {
  if (!output_.IsTerminal()) return Line(line);
  std::string text = "\r";
  const int width = output_.Width();
  text += width > 0 ? ElideMiddle(line, static_cast<size_t>(width)) : std::string(line);
  text += "\x1b[K";
  (void)output_.Write(text);
  has_status_ = true;
}

void LinePrinter::Line(std::string_view line) {
  std::string text = has_status_ ? "\r\x1b[K" : "";
  text += line;
  text += '\n';
  (void)output_.Write(text);
  has_status_ = false;
}

void LinePrinter::Finish() {
  if (has_status_) (void)output_.Write("\n");
  has_status_ = false;
}

std::string ElideMiddle(std::string_view text, size_t width) {
  constexpr std::string_view kDots = "...";
  if (text.size() <= width) return std::string(text);
  if (width <= kDots.size()) return std::string(kDots.substr(0, width));
  const size_t kept = width - kDots.size();
  const size_t head = kept / 2;
  return std::string(text.substr(0, head)) + std::string(kDots) +
         std::string(text.substr(text.size() - (kept - head)));
}

}  // namespace cli
