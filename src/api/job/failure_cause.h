// Finds the replica that failed first, and describes in one line how it failed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace api {

// What `opctl entry` prints when its program has failed, after the program's last lines.
inline constexpr std::string_view kProgramFailed = "Error Running the code: exit code ";
// How its last line before the program's output begins.
inline constexpr std::string_view kProgramStarted = "RANK: ";

struct FirstFailure {
  // One line; "" when the pods do not show it:
  //   rank 1 (pt-worker-0) was killed by SIGKILL (OOMKilled: out of memory)
  //   rank 0 (pt-master-0) exited with code 3: ValueError: no such dataset
  //   code sync failed in pt-master-0: fatal: repository 'x' not found
  // A pod with several ranks is named in their place:
  //   pod pt-worker-0 was killed by SIGKILL (OOMKilled: out of memory)
  std::string text;
  // The last output of the container as the node reports it, at most kMaxLastLines and
  // kMaxLastLineBytes.
  std::string last_lines;
  // The text says nothing but which program ended with which exit code: its pod shows no output, no
  // reason (OOMKilled, Evicted ...) and no signal but the one that the code may stand for.
  bool is_code_alone = false;
  const text::Json* pod = nullptr;  // one of the pods passed in
};
inline constexpr size_t kMaxLastLines = 64;
inline constexpr size_t kMaxLastLineBytes = 4096;

// Compares by time. The end of a container before its restart in place counts as well, if it may
// have caused what failed after it. Pods that are being deleted do not count, unless a disruption
// deletes them; nor do pods that were ended because their job had ended.
FirstFailure FindFirstFailure(const std::vector<const text::Json*>& pods, bool has_master);

// The parts of such a line, parsed also when it follows other text: the line outlives the pods.
struct FailedReplica {
  std::string instance;  // "" when the line does not name one
  std::optional<int> rank;
  std::optional<int> exit_code;
};
FailedReplica ReadFailure(std::string_view line);

// Separates the line from the last lines in the message of Failed.
inline constexpr std::string_view kLastLinesMark = "\nIts last lines:\n";

// The same for an init container of a pod that still retries; "" when none has failed.
std::string InitFailure(const text::Json& pod);

// For display: control characters and line breaks become single spaces.
std::string OneLine(std::string_view text);

}  // namespace api
