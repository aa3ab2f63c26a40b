#include "launch/failure/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "base/fd.h"
#include "base/file.h"
#include "text/json.h"

namespace launch {

base::Status WriteReport(const std::string& path, std::string_view text) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK;
  const base::Fd fd(::open(path.c_str(), kFlags, 0666));
  if (!fd) return base::Fail(base::Errno(errno, fmt::format("open \"{}\"", path)));
  return base::WriteAll(fd.get(), text, path);
}

std::string ErrorFileText(std::string_view message, base::Time now) {
  const std::string quoted = text::QuoteJson(message);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  return fmt::format(
      R"({{"message": {{"message": {}, "extraInfo": {{"py_callstack": {}, "timestamp": "{}"}}}}}})",
      quoted, quoted, seconds);
}

void RecordOwnError(const base::Environment& environment, std::string_view message,
                    base::Time now) {
  const auto path = environment.Get("TORCHELASTIC_ERROR_FILE");
  if (path) (void)WriteReport(*path, ErrorFileText(message, now));
}

}  // namespace launch
