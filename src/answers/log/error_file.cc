#include "answers/log/error_file.h"

#include <algorithm>

#include "base/strings.h"
#include "text/lenient_json.h"

namespace answers {
namespace {

// 9999-12-31.
constexpr int64_t kLatest = 253402300799;
constexpr size_t kLongestStackLine = 4096;
// RUN_ID_x7f2k/attempt_0/3/error.json
constexpr size_t kOwnFolders = 4;

// The timestamp may be written as "10", 10 or 10.5.
std::optional<int64_t> TimestampIn(const text::Json& object) {
  const text::Json* const value = text::Find(object, {"timestamp"});
  if (value == nullptr) return std::nullopt;
  const std::string written = text::ToText(*value);
  const auto seconds = base::ParseInt(std::string_view(written).substr(0, written.find('.')));
  return seconds && *seconds >= 0 && *seconds <= kLatest ? seconds : std::nullopt;
}

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

base::Result<ErrorReport> ParseErrorFile(std::string_view text) {
  TRY_ASSIGN(const text::Json file, text::ParseJsonLeniently(text));
  const text::Json* const message = text::Find(file, {"message"});
  if (message == nullptr) {
    return base::Fail(base::Code::kInvalidArgument, "it has no \"message\"");
  }
  ErrorReport report;
  if (!message->is_object()) {
    report.message = text::ToText(*message);
    report.timestamp = TimestampIn(file);
    return report;
  }
  report.message = text::GetString(*message, {"message"});
  report.call_stack = text::GetString(*message, {"extraInfo", "py_callstack"});
  if (const text::Json* const extra = text::Find(*message, {"extraInfo"})) {
    report.timestamp = TimestampIn(*extra);
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

bool ContainsException(const std::vector<Line>& lines, const ErrorReport& report) {
  const std::string_view first =
      std::string_view(report.message).substr(0, report.message.find('\n'));
  return !first.empty() && std::any_of(lines.begin(), lines.end(), [first](const Line& line) {
    return line.text.find(first) != std::string::npos;
  });
}

}  // namespace answers
