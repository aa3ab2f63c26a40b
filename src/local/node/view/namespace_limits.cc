#include "local/node/view/namespace_limits.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/strings.h"

namespace local::node {
namespace {

std::optional<int64_t> ReadNumber(const char* path) {
  const auto text = base::ReadFile(path, 64);
  if (!text) return std::nullopt;
  return base::ParseInt(base::Trim(*text));
}

std::string Advice(int os_errno, const NamespaceLimits& limits) {
  constexpr std::string_view kSysctl =
      "a system setting forbids it; as root run `sysctl -w {}` (to make it permanent, add a file "
      "in "
      "/etc/sysctl.d)";
  if (limits.max_user_namespaces == 0) {
    return fmt::format(fmt::runtime(kSysctl), "user.max_user_namespaces=15000");
  }
  if (os_errno == ENOSPC || os_errno == EUSERS) {
    return fmt::format(
        "user.max_user_namespaces ({}) is exhausted; as root raise it with `sysctl -w`",
        limits.max_user_namespaces.value_or(0));
  }
  if (limits.unprivileged_userns_clone == 0) {
    return fmt::format(fmt::runtime(kSysctl), "kernel.unprivileged_userns_clone=1");
  }
  if (limits.apparmor_restrict_unprivileged_userns.value_or(0) != 0) {
    return fmt::format(fmt::runtime(kSysctl), "kernel.apparmor_restrict_unprivileged_userns=0");
  }
  return "a container or its seccomp profile forbids it; start the container with "
         "`--security-opt seccomp=unconfined --cap-add SYS_ADMIN`, or run muster outside of it";
}

}  // namespace

NamespaceLimits ReadLimits() {
  return {ReadNumber("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
          ReadNumber("/proc/sys/kernel/unprivileged_userns_clone"),
          ReadNumber("/proc/sys/user/max_user_namespaces")};
}

base::Error ExplainForbidden(std::string_view step, int os_errno, const NamespaceLimits& limits) {
  return {base::Code::kPermissionDenied,
          fmt::format("the pod needs mounts of its own, but this machine does not allow the "
                      "namespaces: {}: {}: {}",
                      step, std::strerror(os_errno), Advice(os_errno, limits)),
          os_errno};
}

}  // namespace local::node
