// What submit does once the job is there: --wait and --follow.
#pragma once

#include <string>

#include "arena/app/app.h"
#include "cli/terminal.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// Prints the log of the job's `chief` to `out` until that instance has ended.
base::Status FollowChief(cluster::Client& client, const Context& context, const text::Json& job,
                         const std::string& chief, cli::Output& out);

// What a command ends with whose job has failed: 1, or what the replica ended with that failed
// first.
enum class FailedCode { kOne, kReplicas };

// Blocks until the job has ended. The exit code: 0 when it succeeded, `failed` when it failed,
// which is logged with its reason. An error when the job is deleted, or out of sight because the
// server is away.
base::Result<int> AwaitEnd(cluster::Client& client, const Context& context, const text::Json& job,
                           FailedCode failed = FailedCode::kOne);

}  // namespace arena
