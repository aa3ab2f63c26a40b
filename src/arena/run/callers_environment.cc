#include "arena/run/callers_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "api/names.h"

namespace arena {
namespace {

constexpr size_t kMaxBytes = 900 << 10;  // a Secret holds at most 1 MiB

constexpr std::array<std::string_view, 43> kLeftOut = {
    // these describe the caller's terminal and its shell
    "_", "COLORTERM", "COLUMNS", "GPG_TTY", "LINES", "LS_COLORS", "OLDPWD", "PROMPT_COMMAND", "PS1",
    "PS2", "PS4", "PWD", "SHLVL", "STY", "TERM", "TMUX", "TMUX_PANE", "WINDOW", "WINDOWID",
    "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "DBUS_SESSION_BUS_ADDRESS", "XDG_SEAT", "XDG_VTNR",
    // a pod takes these from the caller in another way
    "CONDA_DEFAULT_ENV", "CONDA_PREFIX", "HOME", "HOSTNAME", "LANG", "LOGNAME", "PATH",
    "PYENV_VERSION", "USER", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT",
    // these describe a rank's place in a job
    "GROUP_RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "RANK",
    "WORLD_SIZE"};
constexpr std::array<std::string_view, 8> kLeftOutPrefixes = {
    "MUSTER_", "PET_", "ROLE_", "TERM_", "TORCHELASTIC_", "XDG_SESSION_", "BASH_", "SYSTEMD_"};

bool IsInherited(std::string_view name) {
  if (!api::IsVariableName(name)) return false;
  if (std::find(kLeftOut.begin(), kLeftOut.end(), name) != kLeftOut.end()) return false;
  return std::none_of(kLeftOutPrefixes.begin(), kLeftOutPrefixes.end(),
                      [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

base::Result<std::map<std::string, std::string>> CallersEnvironment(
    const base::Environment& environment) {
  std::map<std::string, std::string> inherited;
  size_t bytes = 0;
  for (const auto& [name, value] : environment.values()) {
    if (!IsInherited(name)) continue;
    bytes += name.size() + value.size();
    inherited[name] = value;
  }
  // The output goes to a log rather than a terminal: unbuffered, its lines appear as they are
  // written.
  inherited.try_emplace("PYTHONUNBUFFERED", "1");
  if (bytes <= kMaxBytes) return inherited;
  return base::Fail(
      base::Code::kExhausted,
      fmt::format("your environment has {} KiB, and a job can inherit at most {}: use "
                  "--clean-env, and pass what it needs by --env",
                  bytes >> 10, kMaxBytes >> 10));
}

}  // namespace arena
