#include "local/node/logs/line.h"

namespace local::node {

std::optional<LogLine> ParseLogLine(std::string_view record) {
  LogLine line;
  const size_t time_end = record.find(' ');
  if (time_end == std::string_view::npos || time_end < 20) return std::nullopt;
  line.timestamp = record.substr(0, time_end);
  record.remove_prefix(time_end + 1);
  if (record.starts_with("stdout ")) {
    line.stream = LogStream::kStdout;
  } else if (record.starts_with("stderr ")) {
    line.stream = LogStream::kStderr;
  } else {
    return std::nullopt;
  }
  record.remove_prefix(7);
  // The tag may have more parts after a colon (CRI: "TAG_DELIMITER").
  const size_t tag_end = record.find(' ');
  const std::string_view tag = record.substr(0, tag_end);
  const std::string_view first_tag = tag.substr(0, tag.find(':'));
  if (first_tag != "F" && first_tag != "P") return std::nullopt;
  line.is_partial = first_tag == "P";
  if (tag_end != std::string_view::npos) line.text = record.substr(tag_end + 1);
  return line;
}

std::string FormatLogTime(base::Time time) {
  std::string text = base::FormatRfc3339Micro(time);
  text.insert(text.size() - 1, "000");
  return text;
}

void AppendLogLine(const LogLine& line, std::string& to) {
  to += line.timestamp;
  to += line.stream == LogStream::kStdout ? " stdout " : " stderr ";
  to += line.is_partial ? "P " : "F ";
  to += line.text;
  to += '\n';
}

}  // namespace local::node
