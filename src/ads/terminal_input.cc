#include "ads/terminal_input.h"

#include <unistd.h>

#include <cerrno>

namespace ads {

// Byte by byte: the input after the line is for the program that is started next.
std::optional<std::string> ReadLine() {
  std::string line;
  while (true) {
    char c = 0;
    const ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return line.empty() ? std::nullopt : std::optional(line);
    if (c == '\n') return line;
    if (c != '\r') line += c;
  }
}

}  // namespace ads
