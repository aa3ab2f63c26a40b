// The names of this machine's users.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace base {

// The user's name in the password database; nullopt if it has none there.
std::optional<std::string> UserName(uid_t user);

}  // namespace base
