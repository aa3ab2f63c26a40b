#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/colour.h"
#include "base/log_writer.h"
#include "base/printable.h"

namespace base {
namespace {

std::atomic<LogForm> g_form{LogForm::kArena};
std::atomic<LogLevel> g_level{LogLevel::kInfo};
const auto g_start = std::chrono::steady_clock::now();

struct LevelText {
  std::string_view four;
  std::string_view word;
  int colour;
};

LevelText TextOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return {"DEBU", "debug", 37};
    case LogLevel::kInfo:
      return {"INFO", "info", 36};
    case LogLevel::kWarn:
      return {"WARN", "warning", 33};
    case LogLevel::kError:
      return {"ERRO", "error", 31};
    case LogLevel::kFatal:
      return {"FATA", "fatal", 31};
  }
  return {"ERRO", "error", 31};
}

// Never destroyed: threads log until the very end.
std::mutex& WriterMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::function<void(std::string_view)>& Writer() {
  static auto* const writer = new std::function<void(std::string_view)>;
  return *writer;
}

// logrus does not quote a word of these characters.
bool IsBare(std::string_view text) {
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/@^+") ==
         std::string_view::npos;
}

// Replaces what is not printable by \x.., or by the text that `special` has for it.
template <typename F>
std::string Escaped(std::string_view text, F special) {
  std::string shown;
  while (!text.empty()) {
    const std::string_view known = special(text.front());
    const size_t length = known.empty() ? PrintableLength(text) : 0;
    if (length > 0) {
      shown += text.substr(0, length);
    } else if (known.empty()) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else {
      shown += known;
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return shown;
}

// Equals Go's %q for ordinary text.
std::string Quote(std::string_view text) {
  const auto special = [](char c) -> std::string_view {
    switch (c) {
      case '"':
        return "\\\"";
      case '\\':
        return "\\\\";
      case '\n':
        return "\\n";
      case '\r':
        return "\\r";
      case '\t':
        return "\\t";
      default:
        return "";
    }
  };
  return '"' + Escaped(text, special) + '"';
}

// A message may quote text that a terminal would obey, such as a file's name.
std::string WithoutControls(std::string_view message) {
  return Escaped(message, [](char c) -> std::string_view {
    if (c == '\n') return "\n";
    return c == '\t' ? "\t" : "";
  });
}

}  // namespace

Result<LogLevel> ParseLogLevel(std::string_view text) {
  if (text == "debug") return LogLevel::kDebug;
  if (text == "info") return LogLevel::kInfo;
  if (text == "warn") return LogLevel::kWarn;
  if (text == "error") return LogLevel::kError;
  return Fail(Code::kInvalidArgument, "unknown loglevel,only support:[info,debug,error,warn]");
}

void SetLogWriter(std::function<void(std::string_view)> write) {
  const std::lock_guard lock(WriterMutex());
  Writer() = std::move(write);
}

void SetLogForm(LogForm form) { g_form.store(form, std::memory_order_relaxed); }
void SetLogLevel(LogLevel level) { g_level.store(level, std::memory_order_relaxed); }
bool LogEnabled(LogLevel level) { return level >= g_level.load(std::memory_order_relaxed); }

void Log(LogLevel level, std::string_view message) { Log(level, message, {}); }

void Log(LogLevel level, std::string_view message, LogFields fields) {
  if (!LogEnabled(level)) return;
  std::string after;
  for (const auto& [key, value] : fields) {
    after += fmt::format(" {}={}", key,
                         IsBare(value) && !value.empty() ? std::string(value) : Quote(value));
  }
  const LevelText text = TextOf(level);
  std::string line;
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  const bool is_text = g_form.load(std::memory_order_relaxed) == LogForm::kText;
  if (is_terminal || is_text) {
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - g_start);
    const std::string level_text = HasColour(STDERR_FILENO)
                                       ? fmt::format("\x1b[{}m{}\x1b[0m", text.colour, text.four)
                                       : std::string(text.four);
    // logrus pads the message to a column, whether or not fields follow.
    const int column = is_text ? 0 : 44;
    line = fmt::format("{}[{:04}] {:<{}}{}{}\n", level_text, elapsed.count(),
                       WithoutControls(message), column, is_text ? "" : " ", after);
  } else {
    line = fmt::format("time=\"{}\" level={} msg={}{}\n", FormatRfc3339(SystemClock().Now()),
                       text.word, IsBare(message) ? std::string(message) : Quote(message), after);
  }
  {
    const std::lock_guard lock(WriterMutex());
    if (Writer()) return Writer()(line);
  }
  // One write, so that lines of several threads or processes do not mix.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace base
