#include "launch/output/status_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace launch {
namespace {

constexpr size_t kUsualColumns = 80;

size_t ColumnsOf(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : kUsualColumns;
}

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

bool CanShowStatus(const base::Environment& environment) {
  const std::string kind = environment.GetOr("TERM", "dumb");
  return kind != "dumb" && ::isatty(1) == 1 && ::isatty(2) == 1;
}

std::string VisibleText(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  line.remove_prefix(line.rfind('\r') + 1);
  std::string text;
  while (!line.empty()) {
    const bool is_sequence = line.starts_with("\x1b[");
    if (!is_sequence) text += line.front();
    const size_t end =
        is_sequence ? std::min(line.find_first_not_of("0123456789;?", 2), line.size() - 1) : 0;
    line.remove_prefix(end + 1);
  }
  return text;
}

std::string FitToColumns(std::string_view text, size_t columns) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; }, ' ');
  if (line.size() <= columns) return line;
  size_t end = columns;
  while (end > 0 && IsContinuation(line[end])) --end;
  line.resize(end);
  return line;
}

void StatusLine::Draw(std::string_view text) {
  // The last column stays free: a terminal may begin a new line after it.
  std::string line = FitToColumns(text, ColumnsOf(fd_) - 1);
  if (line == drawn_) return;
  Write(fmt::format("\r\x1b[2m{}\x1b[0m\x1b[K", line));
  drawn_ = std::move(line);
}

void StatusLine::Erase() {
  if (drawn_.empty()) return;
  Write("\r\x1b[K");
  drawn_.clear();
}

void StatusLine::Write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace launch
