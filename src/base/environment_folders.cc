// Apart from the rest of Environment, because the password database cannot be linked into a static
// program.
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/fd.h"
#include "base/machine/unix_address.h"
#include "base/strings.h"

namespace base {
namespace {

bool IsPrivateFolder(const std::string& path) {
  const Fd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return folder && CheckPrivateFolder(folder.get(), path);
}

// Ignores relative paths, as the XDG specification says: the daemon, which leaves the caller's
// folder, would resolve them differently.
std::optional<std::string> Folder(const Environment& environment, std::string_view name) {
  std::optional<std::string> path = environment.Get(name);
  if (path && !path->starts_with('/')) path.reset();
  return path;
}

}  // namespace

std::string Environment::Home() const {
  if (const auto home = Folder(*this, "HOME")) return *home;
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr) {
    return found->pw_dir;
  }
  return "/";
}

std::string Environment::ConfigDir() const {
  return Folder(*this, "XDG_CONFIG_HOME").value_or(Home() + "/.config") + "/muster";
}
std::string Environment::StateDir() const {
  return Folder(*this, "XDG_STATE_HOME").value_or(Home() + "/.local/state") + "/muster";
}
std::string Environment::CacheDir() const {
  return Folder(*this, "XDG_CACHE_HOME").value_or(Home() + "/.cache") + "/muster";
}
std::string Environment::RuntimeDir() const {
  const auto runtime = Folder(*this, "XDG_RUNTIME_DIR");
  // The folder belongs to another user after `su`, is gone after a logout, and is not set in cron
  // jobs.
  if (!runtime || !IsPrivateFolder(*runtime)) return StateDir() + "/run";
  return fmt::format("{}/muster-{}", *runtime, Md5Hex(StateDir()).substr(0, 8));
}

}  // namespace base
