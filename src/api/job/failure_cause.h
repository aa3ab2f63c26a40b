// Which replica failed first, and how, in one line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace api {

// What `opctl entry` says when its program has failed; its own last words follow.
inline constexpr std::string_view kProgramFailed = "Error Running the code: exit code ";

struct FirstFailure {
  // One line; "" when the pods do not tell:
  //   rank 1 (pt-worker-0) was killed by SIGKILL (OOMKilled: out of memory)
  //   rank 0 (pt-master-0) exited with code 3: ValueError: no such dataset
  //   code sync failed in pt-master-0: fatal: repository 'x' not found
  std::string text;
  // What the container said last, as the node reports it, at most kMaxLastLines and
  // kMaxLastLineBytes of it.
  std::string last_lines;
  const text::Json* pod = nullptr;  // of those given
};
inline constexpr size_t kMaxLastLines = 64;
inline constexpr size_t kMaxLastLineBytes = 4096;

// By time; a container's end before its restart in place counts as well, if it may be the cause of
// what failed after it. Pods that are being deleted, unless a disruption does it, and those that
// the end of their job has ended do not count.
FirstFailure FindFirstFailure(const std::vector<const text::Json*>& pods, bool has_master);

// What such a line says, also behind other words: it outlives the pods.
struct FailedReplica {
  std::string instance;  // "" when the line names none
  std::optional<int> rank;
  std::optional<int> exit_code;
};
FailedReplica ReadFailure(std::string_view line);

// Between the line and the last lines, in the message of Failed.
inline constexpr std::string_view kLastLinesMark = "\nIts last lines:\n";

// The same for the code sync of one pod that is still trying; "" when it has not failed.
std::string CodeSyncFailure(const text::Json& pod);

// As people read it: control characters and line breaks become single spaces.
std::string OneLine(std::string_view text);

}  // namespace api
