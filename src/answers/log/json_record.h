// Records of structured loggers and of log collectors: one JSON object, or logfmt, on a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace answers {

// The lines with each such record replaced by the lines of its text: those of its message, and of
// the traceback that stands in another field ("exc_info", "exception", "error.stack_trace"). What
// stood before the record stands before each of them, as does its pod's name (fluent-bit, Cloud
// Logging, Loki) with its number in the Job, and the rank that a launcher's table tells by the
// record's PID; its time, rank and level stand before the first. A record has a text and something
// that only loggers add: a time, a level, a stream. Lines before the last 64 MiB of this text are
// left out. "" if no line is one.
std::string WithoutJsonRecords(const std::vector<std::string_view>& lines);

// If the text is one array of such records (`gcloud logging read --format=json`), also below
// "events" (`aws logs get-log-events`) or "hits" (Elasticsearch): one on a line, the oldest first;
// else "".
std::string LinesOfJsonArray(std::string_view text);

// Whether the text is lines of such records: its first ten are. Pure.
bool HasLinesOfRecords(std::string_view text);

}  // namespace answers
