// Describes workers that failed, and finds the one that failed first (compat/torchrun.md 2.6).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/log/error_file.h"
#include "base/clock.h"
#include "base/result.h"

namespace launch {

// The launcher's own error file: the worker's, with message.errorCode added.
base::Result<std::string> WithErrorCode(std::string_view text, int exit_code);

struct Failure {
  int local_rank = 0;
  int rank = 0;
  pid_t pid = 0;
  int exit_code = 0;  // -n for signal n
  base::Time time;    // when the process ended
  bool was_stopped_by_us = false;
  bool was_out_of_memory = false;  // the kernel killed it for lack of memory
  bool is_elsewhere = false;       // on another node, which reported it
  std::string standstill;          // "in uninterruptible sleep ...": why it was stopped
  bool has_lost_loss = false;      // `standstill` is the line with a loss that is NaN or infinite
  bool has_stalled = false;        // `standstill` describes a stall (answers/stall/stall.h)
  std::string host;
  std::string error_file;  // "" if it wrote none
  std::string error_file_text;
  std::optional<answers::ErrorReport> report;
  std::string stderr_tail;  // the last whole lines
  std::string crash;        // where it crashed (answers::Say(Crash)); "" if unknown

  bool IsSignal() const { return exit_code < 0; }
  // The report's time if it has one.
  base::Time ReportedTime() const;
};

// Whether the launcher ended it after it had printed or recorded its exception: its exit may take
// seconds, in which its peers notice and end before it.
bool WasEndingByException(const Failure& failure);

// Whether it aborted right after it had printed its exception, as C++ code does that fails again
// while Python cleans up.
bool WasAbortedByException(const Failure& failure);

// Whether its exception says that another rank has gone or did not come.
bool WaitedForPeers(const Failure& failure);

// Index of the root cause: the earliest in whole seconds, ties by order of discovery. A worker
// whose exception says that a peer has gone counts only if there is no other, and one that the
// launcher stopped only if it was ending by an exception. `failures` is in order of discovery, not
// empty.
size_t FindRootCause(const std::vector<Failure>& failures);

// The last Python traceback in a program's stderr; "" if there is none.
std::string FindTraceback(std::string_view stderr_text);

// The traceback's last line: "ValueError: boom".
std::string LastLine(std::string_view text);

// The last `count` lines.
std::vector<std::string> LastLines(std::string_view text, size_t count);

// What the launcher exits with: the exit code, or 128 + n for signal n. If the worker was ending by
// an exception, the exit code of an exception.
int ExitCodeOf(const Failure& failure);

}  // namespace launch
