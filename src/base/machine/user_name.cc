#include "base/machine/user_name.h"

#include <pwd.h>

#include <array>

namespace base {

std::optional<std::string> UserName(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  const int failed = ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  if (failed != 0 || found == nullptr) return std::nullopt;
  return found->pw_name;
}

}  // namespace base
