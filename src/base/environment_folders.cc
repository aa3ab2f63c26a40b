// Apart from the rest of Environment: the password database cannot be linked into a static program.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/strings.h"

namespace base {

std::string Environment::Home() const {
  if (const auto home = Get("HOME")) return *home;
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr) {
    return found->pw_dir;
  }
  return "/";
}

std::string Environment::ConfigDir() const {
  return GetOr("XDG_CONFIG_HOME", Home() + "/.config") + "/muster";
}
std::string Environment::StateDir() const {
  return GetOr("XDG_STATE_HOME", Home() + "/.local/state") + "/muster";
}
std::string Environment::CacheDir() const {
  return GetOr("XDG_CACHE_HOME", Home() + "/.cache") + "/muster";
}
std::string Environment::RuntimeDir() const {
  const std::string tag = Md5Hex(StateDir()).substr(0, 8);
  if (const auto runtime = Get("XDG_RUNTIME_DIR"))
    return fmt::format("{}/muster-{}", *runtime, tag);
  return fmt::format("/tmp/muster-{}-{}", getuid(), tag);
}

}  // namespace base
