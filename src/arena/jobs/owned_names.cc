#include "arena/jobs/owned_names.h"

#include <fmt/format.h>

namespace arena {

std::string IdentityName(std::string_view job) { return fmt::format("{}-pytorchjob", job); }
std::string EnvironmentSecretName(std::string_view job) {
  return fmt::format("{}-environment", job);
}
std::string TensorboardName(std::string_view job) { return fmt::format("{}-tensorboard", job); }

}  // namespace arena
