// One line of a container's log file, in the CRI format:
//
//   2026-07-30T10:00:00.000000000Z stdout F text
//
// F ends a line of the program; P is a part of a line that the next record of its stream continues.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace local::node {

enum class LogStream { kStdout, kStderr };

struct LogLine {
  std::string_view timestamp;
  LogStream stream = LogStream::kStdout;
  bool is_partial = false;
  std::string_view text;
};

// Parses `record`, given without its newline; nullopt when it is malformed.
std::optional<LogLine> ParseLogLine(std::string_view record);

// "2026-07-30T10:00:00.123456000Z"
inline constexpr size_t kLogTimeSize = 30;
std::string FormatLogTime(base::Time time);

// Appends the record with its newline.
void AppendLogLine(const LogLine& line, std::string& to);

}  // namespace local::node
