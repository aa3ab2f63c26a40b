#include "local/node/view/namespace_limits.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace local::node {
namespace {

bool Names(const base::Error& error, std::string_view words) {
  return error.message.find(words) != std::string::npos;
}

TEST(NamespaceLimits, NamesTheSettingThatForbids) {
  const struct {
    NamespaceLimits limits;
    int os_errno;
    std::string_view words;
  } cases[] = {
      {{std::nullopt, std::nullopt, 0}, ENOSPC, "`sysctl -w user.max_user_namespaces=15000`"},
      {{std::nullopt, std::nullopt, 50}, ENOSPC, "user.max_user_namespaces (50) is exhausted"},
      {{std::nullopt, 0, 1000}, EPERM, "`sysctl -w kernel.unprivileged_userns_clone=1`"},
      {{1, 1, 1000}, EPERM, "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"},
      {{1, std::nullopt, 1000}, EACCES, "kernel.apparmor_restrict_unprivileged_userns=0"},
      {{0, 1, 1000}, EPERM, "--security-opt seccomp=unconfined"},
      {{}, EPERM, "--security-opt seccomp=unconfined"},
  };
  for (const auto& c : cases) {
    const base::Error error = ExplainForbidden("make a user namespace", c.os_errno, c.limits);
    EXPECT_EQ(error.code, base::Code::kPermissionDenied);
    EXPECT_TRUE(Names(error, "make a user namespace: ")) << error.message;
    EXPECT_TRUE(Names(error, c.words)) << error.message;
  }
}

}  // namespace
}  // namespace local::node
