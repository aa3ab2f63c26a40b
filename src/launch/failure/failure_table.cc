#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "base/machine/signal_name.h"
#include "base/strings.h"
#include "launch/failure/failure_report.h"

namespace launch {
namespace {

constexpr size_t kWidestRule = 60;
constexpr std::string_view kException =
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n";
constexpr std::string_view kNoTraceback =
    "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html";

std::string LocalTime(base::Time time) {
  const time_t seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  ::strftime(text, sizeof text, "%Y-%m-%d_%H:%M:%S", &parts);
  return text;
}

std::string TracebackOf(const Failure& failure) {
  if (!failure.standstill.empty()) return failure.standstill;
  if (failure.report) {
    if (failure.report->call_stack.empty()) return failure.report->message;
    std::string indented;
    for (const std::string& line : base::Split(failure.report->call_stack, '\n')) {
      indented += indented.empty() ? line : "\n  " + line;
    }
    return indented;
  }
  if (failure.IsSignal()) {
    return fmt::format("Signal {} ({}) received by PID {}", -failure.exit_code,
                       base::SignalName(-failure.exit_code), failure.pid);
  }
  return std::string(kNoTraceback);
}

std::string Entry(size_t index, const Failure& failure) {
  return fmt::format(
      "[{}]:\n  time      : {}\n  host      : {}\n  rank      : {} (local_rank: {})\n"
      "  exitcode  : {} (pid: {}) {}\n  error_file: {}\n  traceback : {}\n",
      index, LocalTime(failure.ReportedTime()), failure.host, failure.rank, failure.local_rank,
      failure.exit_code, failure.pid,
      failure.IsSignal() ? fmt::format(" ({})", base::SignalName(-failure.exit_code))
                         : std::string(),
      failure.error_file.empty() ? "<N/A>" : failure.error_file, TracebackOf(failure));
}

}  // namespace

std::string FailureTable(const std::string& title, const std::vector<Failure>& failures) {
  const size_t root = FindRootCause(failures);
  std::string others;
  for (size_t i = 0; i < failures.size(); ++i) {
    if (i != root) others += Entry(i, failures[i]);
  }
  if (others.empty()) others = "  <NO_OTHER_FAILURES>\n";
  const std::string heading = title + " FAILED\n";
  const std::string cause = "Root Cause (first observed failure):\n" + Entry(root, failures[root]);

  size_t width = 0;
  for (const std::string& line : base::Split(heading + others + cause, '\n')) {
    width = std::max(width, line.size());
  }
  width = std::min(width, kWidestRule);
  const std::string border = std::string(width, '=') + "\n";
  const std::string rule = std::string(width, '-') + "\n";
  return std::string(kException) + border + heading + rule + "Failures:\n" + others + rule + cause +
         border;
}

}  // namespace launch
