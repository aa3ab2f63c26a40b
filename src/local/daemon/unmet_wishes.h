// What a job asks for that this machine does not do, in one line each that begins with submit's
// flag: submit says it, and get as long as the job is there. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "text/json.h"

namespace local::daemon {

// What this machine can do about some of it.
struct Abilities {
  std::string why_cpus_are_unlimited{};  // "" when a limit of CPUs is the kernel's to keep
  // Why so many GPUs are not here, in the scheduler's words; "" when they are or nobody knows yet.
  std::function<std::string(int64_t gpus)> why_without_gpus{};
};

std::vector<std::string> UnmetWishes(const text::Json& job, const Abilities& abilities);

}  // namespace local::daemon
