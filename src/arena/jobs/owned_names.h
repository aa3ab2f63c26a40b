// The names of objects that belong to a job (compat/arena.md 3).
#pragma once

#include <string>
#include <string_view>

namespace arena {

// `<job>-pytorchjob`, the ConfigMap by which Arena knows a job.
std::string IdentityName(std::string_view job);
// The Secret with variables of the job: the caller's, and those whose values were not typed.
std::string EnvironmentSecretName(std::string_view job);
// The TensorBoard's Service and Deployment.
std::string TensorboardName(std::string_view job);

}  // namespace arena
