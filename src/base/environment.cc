#include "base/environment.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "base/strings.h"

extern char** environ;

namespace base {

Environment Environment::OfProcess() {
  std::map<std::string, std::string> values;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    values.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return Environment(std::move(values));
}

std::optional<std::string> Environment::Get(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::string Environment::GetOr(std::string_view name, std::string_view otherwise) const {
  return Get(name).value_or(std::string(otherwise));
}

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
