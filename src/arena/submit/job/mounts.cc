// --data, --data-dir and where everything is mounted. Pure.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/names.h"
#include "arena/submit/job/options.h"
#include "arena/submit/job/refusal.h"
#include "arena/submit/job/render_parts.h"
#include "base/strings.h"

namespace arena {
namespace {

// Nothing but slashes and dots below the root: the root itself.
bool IsRoot(std::string_view path) {
  const std::vector<std::string> steps = base::Split(path, '/');
  return path.starts_with('/') &&
         std::all_of(steps.begin(), steps.end(),
                     [](const std::string& step) { return step.empty() || step == "."; });
}

bool GoesUp(std::string_view path) {
  const std::vector<std::string> steps = base::Split(path, '/');
  return std::find(steps.begin(), steps.end(), "..") != steps.end();
}

base::Status CheckContainerPath(const std::string& path) {
  if (IsRoot(path)) return Refuse("invalid specification: dataDir can't be '/'");
  if (!path.starts_with('/'))
    return Refuse(fmt::format("invalid dataDir: '{}' must be absolute", path));
  if (GoesUp(path)) return Refuse(fmt::format("invalid dataDir: '{}' must not hold '..'", path));
  return {};
}

// Takes docker's `:ro` or `:rw` off the parts of a mount. Whether it is read-only.
bool TakeAccess(std::vector<std::string>& parts) {
  if (parts.size() < 2 || (parts.back() != "ro" && parts.back() != "rw")) return false;
  const bool read_only = parts.back() == "ro";
  parts.pop_back();
  return read_only;
}

base::Status CheckClaimName(const std::string& name) {
  if (name.size() < 2) {
    return Refuse("volume name is too short, names should be at least two alphanumeric characters");
  }
  const bool is_valid =
      api::IsAlphanumeric(name[0]) && std::all_of(name.begin(), name.end(), api::IsNameCharacter);
  if (is_valid) return {};
  return Refuse(
      fmt::format("\"{}\" includes invalid characters for a local volume name, only "
                  "\"[a-zA-Z0-9][a-zA-Z0-9_.-]\" are allowed. If you intended to pass a host "
                  "directory, use absolute path",
                  name));
}

// /a/./b// -> /a/b
std::string Plain(std::string_view path) {
  std::string plain;
  for (const std::string& step : base::Split(path, '/')) {
    if (!step.empty() && step != ".") plain += "/" + step;
  }
  return plain.empty() ? "/" : plain;
}

// Where the training writes its events, which is a mount of its own or below one of the others.
base::Status CheckLogdir(const SubmitFlags& flags) {
  if (!flags.tensorboard) return {};
  if (flags.logdir.empty() || IsRoot(flags.logdir)) {
    return Refuse(fmt::format("--logdir is invalid: '{}' is not a directory for --tensorboard",
                              flags.logdir));
  }
  if (flags.logdir.starts_with('/') && GoesUp(flags.logdir)) {
    return Refuse(fmt::format("--logdir is invalid: '{}' must not hold '..'", flags.logdir));
  }
  return {};
}

}  // namespace

base::Result<std::vector<DataMount>> ParseData(const std::vector<std::string>& values) {
  std::vector<DataMount> data;
  std::set<std::string> seen;
  for (const std::string& value : values) {
    std::vector<std::string> parts = base::Split(value, ':');
    const bool read_only = TakeAccess(parts);
    if (parts.size() != 2) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("dataset {} has incorrect format, should like data_name:/data0", value));
    }
    const auto& [name, path] = std::pair(parts[0], parts[1]);
    TRY(CheckClaimName(name));
    if (!seen.insert(name).second) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("your PVC name: {} is repeated, please check it", name));
    }
    TRY(CheckContainerPath(path));
    data.push_back({name, path, read_only});
  }
  std::sort(data.begin(), data.end());
  return data;
}

base::Result<std::vector<HostDir>> ParseDataDirs(const std::vector<std::string>& values) {
  std::vector<HostDir> dirs;
  for (const std::string& value : values) {
    std::vector<std::string> parts = base::Split(value, ':');
    const bool read_only = TakeAccess(parts);
    if (parts.size() > 2 || parts[0].empty() || parts.back().empty()) {
      return base::Fail(base::Code::kInvalidArgument, fmt::format("invalid DataDir: '{}'", value));
    }
    TRY(CheckContainerPath(parts[0]));
    TRY(CheckContainerPath(parts.back()));
    dirs.push_back({parts[0], parts.back(), read_only});
  }
  return dirs;
}

base::Status CheckMounts(const SubmitOptions& options) {
  const SubmitFlags& flags = options.flags;
  TRY(CheckLogdir(flags));
  std::map<std::string, std::string> taken;  // by path: what is there
  const auto take = [&](std::string_view path, std::string what) -> base::Status {
    const auto [it, is_free] = taken.emplace(Plain(path), what);
    if (is_free) return {};
    return Refuse(fmt::format("{} and {} would both be at {}", it->second, what, it->first));
  };
  if (!flags.share_memory.empty()) TRY(take("/dev/shm", "--share-memory"));
  if (!flags.sync_mode.empty()) {
    if (GoesUp(flags.working_dir)) {
      return Refuse(
          fmt::format("--working-dir is invalid: '{}' must not hold '..'", flags.working_dir));
    }
    TRY(take(flags.working_dir + "/code", "the synchronised code"));
  }
  if (HasLocalLogs(options)) TRY(take(flags.logdir, "--logdir"));
  for (const DataMount& data : options.data) {
    TRY(take(data.path, fmt::format("--data={}", data.claim)));
  }
  for (const HostDir& dir : options.data_dirs) {
    TRY(take(dir.container_path, fmt::format("--data-dir={}", dir.host_path)));
  }
  std::set<std::string> config_dirs;
  for (const ConfigFile& file : options.config_files) {
    const std::string dir = file.container_path.substr(0, file.container_path.rfind('/'));
    if (!config_dirs.insert(dir).second) continue;
    if (IsRoot(dir) || GoesUp(dir)) {
      return Refuse(
          fmt::format("--config-file \"{}\" is invalid: its directory cannot be /, nor hold '..'",
                      file.container_path));
    }
    TRY(take(dir, fmt::format("the directory of --config-file={}", file.host_path)));
  }
  return {};
}

}  // namespace arena
