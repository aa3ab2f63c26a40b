// Why this machine forbids namespaces, and how its owner can allow them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace local::node {

// Settings of the kernel; nullopt when it does not have the setting.
struct NamespaceLimits {
  std::optional<int64_t> apparmor_restrict_unprivileged_userns;
  std::optional<int64_t> unprivileged_userns_clone;
  std::optional<int64_t> max_user_namespaces;
};

NamespaceLimits ReadLimits();

// `step` failed with `os_errno`. Code kPermissionDenied.
base::Error ExplainForbidden(std::string_view step, int os_errno, const NamespaceLimits& limits);

}  // namespace local::node
