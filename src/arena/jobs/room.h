// Whether a Kubernetes cluster has room for a job now: what its nodes have, less what pods request.
// When a job would start is not known there: no scheduler says what it will do.
#pragma once

#include <string>
#include <vector>

#include "arena/jobs/forecast.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// docs/reference/json.md, "what-if on Kubernetes". Counts GPUs only (nvidia.com/gpu), on nodes that
// are ready. kNotFound for a job without GPUs; the server's error if nodes may not be listed.
base::Result<text::Json> AskRoom(cluster::Client& client, const std::string& namespace_name,
                                 const WouldBe& job);

// The same for these objects. `sees_all`: `pods` are those of all namespaces. Pure.
text::Json JudgeRoom(const WouldBe& job, const std::vector<text::Json>& nodes,
                     const std::vector<text::Json>& pods, const text::Array& quotas, bool sees_all);

// Lines, each with a newline. Pure.
std::string RenderRoom(const text::Json& room);

}  // namespace arena
