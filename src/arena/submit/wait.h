// Waits for a submitted job and follows it: --wait and --follow.
#pragma once

#include <atomic>
#include <string>

#include "arena/app/app.h"
#include "cli/terminal.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// Prints the log of the job's `chief` to `out` until the instance has ended. `is_ending` as
// FollowRequest's.
base::Status FollowChief(cluster::Client& client, const Context& context, const text::Json& job,
                         const std::string& chief, cli::Output& out,
                         const std::atomic<bool>* is_ending = nullptr);

// The exit code of a command whose job has failed: 1, or the exit code of the first replica to
// fail.
enum class FailedCode { kOne, kReplicas };

// Blocks until the job has ended. Returns the exit code: 0 if it succeeded, `failed` if it failed,
// which it logs with the reason. An error if the job is deleted, or the server stays away.
// `is_ending`: while true, nothing is said of waits.
base::Result<int> AwaitEnd(cluster::Client& client, const Context& context, const text::Json& job,
                           FailedCode failed = FailedCode::kOne,
                           const std::atomic<bool>* is_ending = nullptr);

}  // namespace arena
