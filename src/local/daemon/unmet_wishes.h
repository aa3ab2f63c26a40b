// The settings of a job that this machine does not honour, one line each, beginning with the flag
// of submit for a job that submit made, and with the field for any other. `submit` shows them, and
// `get` while the job exists. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/vendor.h"
#include "text/json.h"

namespace local::daemon {

// What this machine can do about some of them.
struct Abilities {
  std::string why_cpus_are_unlimited{};  // "": the kernel can enforce CPU limits
  // Why that many GPUs are not available, in the scheduler's words; "" when they are, or when it is
  // not known yet.
  std::function<std::string(int64_t gpus)> why_without_gpus{};
  std::function<int64_t()> gpus{};                   // how many it has, as far as is known by now
  std::function<const gpu::Vendor&()> gpu_vendor{};  // theirs; set where `gpus` is
};

// The GPUs that all replicas of a job ask for together.
int64_t GpusAskedFor(const text::Json& job);

std::vector<std::string> UnmetWishes(const text::Json& job, const Abilities& abilities);
// A line about the pod's fields that nothing here reads, such as probes; none without such fields.
std::vector<std::string> IgnoredOfPod(const text::Json& pod);

}  // namespace local::daemon
