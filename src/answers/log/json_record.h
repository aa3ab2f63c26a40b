// Records of structured loggers and of log collectors: one JSON object on a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace answers {

// The lines with each such record replaced by the lines of its text: those of its message, and of
// the traceback that stands in another field ("exc_info", "exception", "error.stack_trace"). The
// record's time stands before each of them, as do its pod's name (fluent-bit, Cloud Logging) and
// what stood before the record; its rank and level stand before the first. A record has a text and
// something that only loggers add: a time, a level, a stream. Lines before the last 64 MiB of this
// text are left out. "" if no line is one.
std::string WithoutJsonRecords(const std::vector<std::string_view>& lines);

}  // namespace answers
