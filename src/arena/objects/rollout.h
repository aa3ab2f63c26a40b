// Waits until controllers have acted on an object.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "api/resources.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

// Blocks until `missing` returns "" for the object. kTimeout: its last text, or "it does not exist"
// when there is no such object; the server's own error when it refuses.
using WhatIsMissing = std::function<std::string(const text::Json& object)>;
base::Status AwaitObject(cluster::Client& client, const api::Resource& resource,
                         const std::string& namespace_name, const std::string& name,
                         std::chrono::milliseconds timeout, const WhatIsMissing& missing);

// Why the Deployment does not yet run its newest template only; "" when it does.
std::string MissingOfRollout(const text::Json& deployment);
// "" when the condition is True.
std::string MissingCondition(const text::Json& object, std::string_view type);
// Why containers of these pods do not run: "pod x: ErrImagePull: ..."; "" when unknown.
std::string WhyPodsWait(const std::vector<text::Json>& pods);

}  // namespace arena
