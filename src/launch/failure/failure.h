// What is known of workers that failed, and which of them failed first (compat/torchrun.md 2.6).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace launch {

// What a worker wrote to TORCHELASTIC_ERROR_FILE.
struct ErrorReport {
  std::string message;               // "ValueError: boom"
  std::string call_stack;            // "Traceback ..."; "" when it wrote a plain message
  std::optional<int64_t> timestamp;  // seconds since the epoch
};

// The three forms that readers of error files know. kInvalidArgument for anything else.
base::Result<ErrorReport> ParseErrorFile(std::string_view text);

// The error file of the launcher itself: the worker's with message.errorCode added.
base::Result<std::string> WithErrorCode(std::string_view text, int exit_code);

struct Failure {
  int local_rank = 0;
  int rank = 0;
  pid_t pid = 0;
  int exit_code = 0;  // negative: minus the signal
  base::Time time;    // the end of the process
  bool was_stopped_by_us = false;
  bool was_out_of_memory = false;  // the kernel killed it
  bool is_elsewhere = false;       // on another node, which said so
  std::string standstill;          // "in uninterruptible sleep ...": why it was given up
  bool has_stalled = false;        // `standstill` is of a stall (answers/stall/stall.h)
  std::string host;
  std::string error_file;  // "" when it wrote none
  std::string error_file_text;
  std::optional<ErrorReport> report;
  std::string stderr_tail;  // the last bytes, whole lines

  bool IsSignal() const { return exit_code < 0; }
  // The report's when it has one.
  base::Time ReportedTime() const;
};

// It had said its exception and was on its way out, which may take seconds, when the launcher ended
// it: its peers noticed, and ended, before it.
bool WasEndingByException(const Failure& failure);

// Its exception is that another rank has gone, or that it waited for one in vain.
bool WaitedForPeers(const Failure& failure);

// Index of the root cause: the smallest time in whole seconds, ties by order of discovery. Not one
// whose exception is that a peer has gone when there is another, and of the ones that the launcher
// stopped only one that was ending by an exception. `failures` in order of discovery, not empty.
size_t FindRootCause(const std::vector<Failure>& failures);

// The last Python traceback in what a program wrote to stderr; "" when there is none.
std::string FindTraceback(std::string_view stderr_text);

// Its last line: "ValueError: boom".
std::string LastLine(std::string_view text);

// The last `count` lines.
std::vector<std::string> LastLines(std::string_view text, size_t count);

// 128 + the signal, or the exit code: what the launcher exits with. That of an uncaught exception
// for one that was ending by it.
int ExitCodeOf(const Failure& failure);

}  // namespace launch
