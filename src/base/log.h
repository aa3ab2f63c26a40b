// Log lines on stderr. Thread safe. Callers must keep secrets out.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace base {

enum class LogForm {
  // Arena's two formats (compat/arena.md 2.1): kText, coloured, on a terminal; otherwise
  // `time="2026-07-30T10:00:00Z" level=info msg="text"`.
  kArena,
  // `INFO[0000] text`, elapsed seconds in brackets; coloured on a terminal.
  kText,
};
void SetLogForm(LogForm form);

// kFatal only labels the line, as in Arena's; it does not end the program.
enum class LogLevel { kDebug, kInfo, kWarn, kError, kFatal };

// debug, info, warn or error; otherwise Arena's error message.
Result<LogLevel> ParseLogLevel(std::string_view text);
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);
void Log(LogLevel level, std::string_view message);
// Appends fields, ` key=value`, in either format.
using LogFields = std::initializer_list<std::pair<std::string_view, std::string_view>>;
void Log(LogLevel level, std::string_view message, LogFields fields);

template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kDebug)) {
    Log(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kInfo)) {
    Log(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void LogWarn(fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kWarn)) {
    Log(LogLevel::kWarn, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void LogError(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace base
