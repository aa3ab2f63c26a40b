#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>

#include "base/colour.h"

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

bool FdOutput::HasColour() const { return base::HasColour(fd_); }

int FdOutput::Width() const {
  winsize size{};
  return is_terminal_ && ::ioctl(fd_, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string Painted(const Output& output, Paint paint, std::string_view text) {
  if (text.empty() || !output.HasColour()) return std::string(text);
  int code = 0;
  switch (paint) {
    case Paint::kGood:
      code = 32;
      break;
    case Paint::kBusy:
      code = 36;
      break;
    case Paint::kWaiting:
      code = 33;
      break;
    case Paint::kBad:
      code = 31;
      break;
    case Paint::kStrong:
      code = 1;
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string PaintedState(const Output& output, std::string_view state) {
  const auto is_one_of = [state](std::initializer_list<std::string_view> states) {
    return std::find(states.begin(), states.end(), state) != states.end();
  };
  if (is_one_of({"SUCCEEDED", "READY"})) return Painted(output, Paint::kGood, state);
  if (is_one_of({"FAILED", "NOTREADY"})) return Painted(output, Paint::kBad, state);
  if (state == "RUNNING") return Painted(output, Paint::kBusy, state);
  if (is_one_of({"PENDING", "QUEUING", "SUSPENDED", "TERMINATING", "RESTARTING", "UNKNOWN"})) {
    return Painted(output, Paint::kWaiting, state);
  }
  return std::string(state);
}

std::string BottomLines::ToTop() const {
  std::string text = "\r";
  for (size_t i = 1; i < drawn_.size(); ++i) text += "\x1b[A";
  return text;
}

// Errors of Write are dropped here: if the terminal is gone, nobody misses these lines.
void BottomLines::Draw(const std::vector<std::string>& lines) {
  if (lines == drawn_) return;
  if (lines.empty()) return Clear();
  const int width = output_.Width();
  std::string text = ToTop();
  for (const std::string& line : lines) {
    if (&line != &lines.front()) text += '\n';
    text += width > 0 ? ElideMiddle(line, static_cast<size_t>(width)) : line;
    text += "\x1b[K";
  }
  if (lines.size() < drawn_.size()) text += "\x1b[J";
  (void)output_.Write(text);
  drawn_ = lines;
}

void BottomLines::Clear() {
  if (drawn_.empty()) return;
  (void)output_.Write(ToTop() + "\x1b[K" + (drawn_.size() > 1 ? "\x1b[J" : ""));
  drawn_.clear();
}

std::string ElideMiddle(std::string_view text, size_t width) {
  constexpr std::string_view kDots = "...";
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  std::vector<size_t> starts;  // of each code point
  for (size_t i = 0; i < text.size(); ++i) {
    if (begins(text[i])) starts.push_back(i);
  }
  if (starts.size() <= width) return std::string(text);
  if (width <= kDots.size()) return std::string(kDots.substr(0, width));
  const size_t kept = width - kDots.size();
  const size_t head = kept / 2;
  return std::string(text.substr(0, starts[head])) + std::string(kDots) +
         std::string(text.substr(starts[starts.size() - (kept - head)]));
}

}  // namespace cli
