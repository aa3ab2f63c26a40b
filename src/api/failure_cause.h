// Which replica failed first, and how, in one line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace api {

// What `opctl entry` says when its program has failed; its own last words follow.
inline constexpr std::string_view kProgramFailed = "Error Running the code: exit code ";

// "" when the pods do not tell. Pods that are being deleted do not count: they were stopped.
//   rank 1 (pt-worker-0) was killed by SIGKILL (OOMKilled: out of memory)
//   rank 0 (pt-master-0) exited with code 3: ValueError: no such dataset
//   code sync failed in pt-master-0: fatal: repository 'x' not found
std::string FirstFailure(const std::vector<const text::Json*>& pods, bool has_master);

// The same for the code sync of one pod that is still trying; "" when it has not failed.
std::string CodeSyncFailure(const text::Json& pod);

// As people read it: control characters and line breaks become single spaces.
std::string OneLine(std::string_view text);

}  // namespace api
