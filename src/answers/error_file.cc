#include "answers/error_file.h"

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"

namespace answers {
namespace {

// 9999-12-31.
constexpr int64_t kLatest = 253402300799;
constexpr size_t kLongestStackLine = 4096;
// RUN_ID_x7f2k/attempt_0/3/error.json
constexpr size_t kOwnFolders = 4;

std::optional<int64_t> TimestampOf(const base::JsonValue* value) {
  if (value == nullptr) return std::nullopt;
  // "10", 10 and 10.5 are all written.
  const auto seconds =
      base::ParseInt(std::string_view(value->text).substr(0, value->text.find('.')));
  return seconds && *seconds >= 0 && *seconds <= kLatest ? seconds : std::nullopt;
}

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

base::Result<ErrorReport> ParseErrorFile(std::string_view text) {
  TRY_ASSIGN(const base::JsonValue file, base::ParseJson(text));
  const base::JsonValue* const message = file.Find("message");
  if (message == nullptr) {
    return base::Fail(base::Code::kInvalidArgument, "it has no \"message\"");
  }
  ErrorReport report;
  if (message->kind != base::JsonValue::Kind::kObject) {
    report.message =
        message->kind == base::JsonValue::Kind::kString ? message->text : base::WriteJson(*message);
    report.timestamp = TimestampOf(file.Find("timestamp"));
    return report;
  }
  if (const base::JsonValue* const inner = message->Find("message")) report.message = inner->text;
  if (const base::JsonValue* const extra = message->Find("extraInfo")) {
    if (const base::JsonValue* const stack = extra->Find("py_callstack"))
      report.call_stack = stack->text;
    report.timestamp = TimestampOf(extra->Find("timestamp"));
  }
  return report;
}

bool IsErrorFile(std::string_view path) { return LastPart(path) == "error.json"; }

bool IsSameErrorFile(std::string_view path, std::string_view name) {
  if (!IsErrorFile(name)) return false;
  const auto parts = base::Split(path, '/'), others = base::Split(name, '/');
  const size_t needed = std::min(kOwnFolders, others.size());
  if (parts.size() < needed || others.size() < 2) return false;
  return std::equal(others.end() - static_cast<ptrdiff_t>(needed), others.end(),
                    parts.end() - static_cast<ptrdiff_t>(needed));
}

std::vector<Line> LinesOf(const ErrorReport& report) {
  std::optional<base::Time> time;
  if (report.timestamp) time = base::Time(std::chrono::seconds(*report.timestamp));
  std::vector<Line> lines;
  const std::string& text = report.call_stack.empty() ? report.message : report.call_stack;
  for (const std::string& line : base::Split(text, '\n')) {
    lines.push_back({time, line.substr(0, kLongestStackLine), lines.size()});
  }
  return lines;
}

bool Tells(const std::vector<Line>& lines, const ErrorReport& report) {
  const std::string_view first =
      std::string_view(report.message).substr(0, report.message.find('\n'));
  return !first.empty() && std::any_of(lines.begin(), lines.end(), [first](const Line& line) {
    return line.text.find(first) != std::string::npos;
  });
}

}  // namespace answers
