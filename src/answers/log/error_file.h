// The file that a worker under torchrun or `muster launch` writes to TORCHELASTIC_ERROR_FILE when
// @record sees its exception. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "answers/evidence.h"
#include "base/result.h"

namespace answers {

struct ErrorReport {
  std::string message;               // "ValueError: boom"
  std::string call_stack;            // "Traceback ..."; "" if it wrote a plain message
  std::optional<int64_t> timestamp;  // of the exception; seconds since the epoch
};

// Parses the three formats that readers of error files know. kInvalidArgument for anything else.
base::Result<ErrorReport> ParseErrorFile(std::string_view text);

// Whether a file of a log folder is a worker's error file, by its name: "attempt_0/3/error.json".
bool IsErrorFile(std::string_view path);

// Whether `path`, which a launcher named, and `name`, a path below a log folder, are one error
// file: the ends of both are equal, from the folder of the launcher's run on.
bool IsSameErrorFile(std::string_view path, std::string_view name);

// The call stack, or a plain message, as the lines of a log, each with the report's time.
std::vector<Line> LinesOf(const ErrorReport& report);

// Whether these lines, which a rank printed, contain the report's exception.
bool ContainsException(const std::vector<Line>& lines, const ErrorReport& report);

}  // namespace answers
