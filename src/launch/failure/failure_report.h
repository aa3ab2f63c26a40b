// The texts that a failed job ends with: torchrun's table, our own, and JSON. Pure.
#pragma once

#include <string>
#include <vector>

#include "launch/failure/failure.h"

namespace launch {

// torchrun's table (compat/torchrun.md 2.6) after the line of its exception. `failures` is in order
// of discovery, not empty. Times are in the local zone.
std::string FailureTable(const std::string& title, const std::vector<Failure>& failures);

// What --explain knows besides the failures.
struct FailureContext {
  std::string title;  // script, module or program
  std::string python;
  int world_size = 1;
  int restarts_used = 0;
  int max_restarts = 0;
  std::string report_file;  // "" for none
  std::string stderr_file;  // of the root cause; "" for none
  bool is_log_disk_full = false;
  std::vector<int> ended_early{};  // ranks that had ended before, with 0
  // The stall that was there when the first rank failed, or had just ended (answers::Say): what
  // that rank may have waited for in vain. "" for none.
  std::string stall{};
};

struct Explanation {
  std::string cause;  // "ValueError: boom", "killed for lack of memory"
  std::string kind;   // one word for programs: "exception", "out-of-memory" ...
  std::vector<std::string> evidence;
  std::string advice;
};
Explanation Explain(const Failure& root, const FailureContext& context);

// One screen: who failed first, why, the evidence, what to do.
std::string ExplainText(const std::vector<Failure>& failures, const FailureContext& context);

// The same as JSON.
std::string FailureJson(const std::vector<Failure>& failures, const FailureContext& context);

}  // namespace launch
