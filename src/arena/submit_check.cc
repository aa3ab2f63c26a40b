#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "arena/app.h"
#include "arena/submit_options.h"
#include "base/file.h"
#include "base/quantity.h"
#include "base/strings.h"

namespace arena {
namespace {

constexpr size_t kMaxNameLength = 49;
constexpr size_t kMaxConfigFileBytes = 1 << 20;  // a ConfigMap's limit
constexpr size_t kMaxLabelName = 63;

// The variables of git-sync v3 that the code sync knows (spec/arena.md 3.2).
constexpr std::array kGitSyncVariables = {
    "USERNAME", "PASSWORD",     "BRANCH",       "REV",
    "DEPTH",    "SSH",          "SSH_KEY_FILE", "SUBMODULES",
    "TIMEOUT",  "MAX_FAILURES", "KNOWN_HOSTS",  "REPO",
    "DEST",     "ROOT",         "ONE_TIME",     "SSH_KNOWN_HOSTS_FILE"};

base::Status Refuse(std::string message) {
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

bool IsLower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphanumeric(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }

// Kubernetes' IsQualifiedName: [prefix/]name.
bool IsQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    if (prefix.empty() || prefix.size() > 253 ||
        !std::all_of(prefix.begin(), prefix.end(),
                     [](char c) { return IsLower(c) || c == '-' || c == '.'; }) ||
        !IsLower(prefix.front()) || !IsLower(prefix.back())) {
      return false;
    }
    text.remove_prefix(slash + 1);
  }
  return !text.empty() && text.size() <= kMaxLabelName && IsAlphanumeric(text.front()) &&
         IsAlphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

bool IsQuantity(const std::string& text) {
  const auto value = base::ParseQuantityMilli(text);
  return value && *value >= 0;
}

base::Status CheckContainerPath(const std::string& path) {
  if (path == "/") return Refuse("invalid specification: dataDir can't be '/'");
  if (!path.starts_with('/'))
    return Refuse(fmt::format("invalid dataDir: '{}' must be absolute", path));
  return {};
}

// Takes docker's `:ro` or `:rw` off the parts of a mount. Whether it is read-only.
bool TakeAccess(std::vector<std::string>& parts) {
  if (parts.size() < 2 || (parts.back() != "ro" && parts.back() != "rw")) return false;
  const bool read_only = parts.back() == "ro";
  parts.pop_back();
  return read_only;
}

base::Status CheckSync(const SubmitFlags& flags) {
  if (flags.sync_mode.empty()) {
    if (!flags.sync_source.empty()) {
      return Refuse("--sync-mode should be set when --sync-source is set");
    }
    return {};
  }
  if (flags.sync_mode != "git" && flags.sync_mode != "rsync") {
    return Refuse(fmt::format("Unknown sync mode: {}", flags.sync_mode));
  }
  if (flags.sync_source.empty()) return Refuse("--syncSource should be set when syncMode is set");
  return {};
}

bool IsNproc(const std::string& text) {
  if (text.empty() || text == "auto" || text == "cpu" || text == "gpu") return true;
  const std::optional<int64_t> number = base::ParseInt(text);
  return number && *number > 0;
}

// The checks that need nothing but the value itself, in Arena's order.
base::Status CheckNumbers(const SubmitFlags& flags) {
  const std::string& policy = flags.clean_task_policy;
  if (policy != "None" && policy != "Running" && policy != "All") {
    return Refuse(fmt::format("unsupported cleanTaskPolicy {}", policy));
  }
  if (flags.gpus < 0) return Refuse("--gpus is invalid");
  if (flags.workers < 1) {
    return Refuse("--workers is invalid: it counts the master too, so it must be at least 1");
  }
  if (flags.workers > 100'000) return Refuse("--workers is invalid: it must be at most 100000");
  if (flags.retry < 0) return Refuse("--retry is invalid");
  if (!flags.cpu.empty() && !IsQuantity(flags.cpu)) return Refuse("--cpu is invalid");
  if (!flags.memory.empty() && !IsQuantity(flags.memory)) return Refuse("--memory is invalid");
  if (flags.running_timeout.count() < 0) return Refuse("--running-timeout is invalid");
  if (flags.ttl_after_finished.count() < 0) return Refuse("--ttl-after-finished is invalid");
  if (!flags.share_memory.empty() && !IsQuantity(flags.share_memory)) {
    return Refuse("--share-memory is invalid");
  }
  if (!IsNproc(flags.nproc_per_node)) return Refuse("--nproc-per-node is invalid");
  return {};
}

base::Status CheckOurs(const SubmitFlags& flags) {
  if (flags.dry_run != "none" && flags.dry_run != "client" && flags.dry_run != "server") {
    return Refuse(
        fmt::format("--dry-run is invalid: none, client or server, not \"{}\"", flags.dry_run));
  }
  if (flags.output != "yaml" && flags.output != "json") {
    return Refuse(fmt::format("--output is invalid: yaml or json, not \"{}\"", flags.output));
  }
  if (!flags.working_dir.starts_with('/')) {
    return Refuse(
        fmt::format("--working-dir is invalid: '{}' must be absolute", flags.working_dir));
  }
  return {};
}

void WarnOfUnknownGitVariables(SubmitOptions& options) {
  constexpr std::string_view kPrefix = "GIT_SYNC_";
  for (const auto& [name, value] : options.env) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string_view rest = std::string_view(name).substr(kPrefix.size());
    if (std::find(kGitSyncVariables.begin(), kGitSyncVariables.end(), rest) ==
        kGitSyncVariables.end()) {
      options.warnings.push_back(
          fmt::format("{} is not a variable that the code sync knows", name));
    }
  }
}

// The password leaves the environment and the source here: nothing after this sees it in clear.
void TakePassword(SubmitOptions& options) {
  const bool is_git = options.flags.sync_mode == "git";
  if (is_git) options.git_password = TakePasswordOfUrl(options.flags.sync_source);
  if (const auto it = options.env.find("GIT_SYNC_PASSWORD"); it != options.env.end()) {
    if (is_git) {
      options.git_password = it->second;
    } else {
      options.warnings.emplace_back(
          "GIT_SYNC_PASSWORD is left out: it is of use with --sync-mode=git only");
    }
    options.env.erase(it);
  }
  std::erase_if(options.flags.env,
                [](const std::string& entry) { return entry.starts_with("GIT_SYNC_PASSWORD="); });
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto high = HexDigit(text[i + 1]);
      const auto low = HexDigit(text[i + 2]);
      if (high && low) {
        out += static_cast<char>(*high * 16 + *low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

base::Result<ConfigFile> ReadConfigFile(const std::string& value,
                                        const base::Environment& environment) {
  std::vector<std::string> parts = base::Split(value, ':');
  if (parts.size() > 2 || parts[0].empty() || parts.back().empty()) {
    return base::Fail(base::Code::kInvalidArgument,
                      "invalid format for assigning config file,it should be '--config-file "
                      "<host_path_file>:<container_path_file>'");
  }
  ConfigFile file;
  file.host_path = parts[0];
  if (file.host_path.starts_with("~/"))
    file.host_path = environment.Home() + file.host_path.substr(1);
  struct stat info{};
  if (::stat(file.host_path.c_str(), &info) != 0) {
    // Go's words for ENOENT, which scripts may look for
    std::string why = base::Errno(errno, fmt::format("stat {}", file.host_path)).message;
    if (errno == ENOENT) why = fmt::format("stat {}: no such file or directory", file.host_path);
    return base::Fail(base::Code::kInvalidArgument, std::move(why));
  }
  file.container_path = parts.back() == parts[0] ? file.host_path : parts.back();
  if (!file.container_path.starts_with('/') || file.container_path.ends_with('/')) {
    return base::Fail(base::Code::kInvalidArgument,
                      "the path of file in container must be absolute path");
  }
  TRY_ASSIGN(file.content, base::ReadFile(file.host_path, kMaxConfigFileBytes));
  return file;
}

base::Status ParseAll(SubmitOptions& options, const base::Environment& environment) {
  const SubmitFlags& flags = options.flags;
  TRY_ASSIGN(options.data, ParseData(flags.data));
  if (!flags.model_name.empty() && flags.model_source.empty()) {
    return Refuse("model version source must be specified when registering a model version");
  }
  TRY(CheckSync(flags));
  TRY_ASSIGN(options.data_dirs, ParseDataDirs(flags.data_dirs));
  TRY_ASSIGN(options.devices, ParseDevices(flags.devices));
  TRY_ASSIGN(options.config_files, ReadConfigFiles(flags.config_files, environment));
  TRY_ASSIGN(options.env, ParsePairs("--env", flags.env));
  TRY_ASSIGN(options.labels, ParsePairs("--label", flags.labels));
  TRY_ASSIGN(options.annotations, ParsePairs("--annotation", flags.annotations));
  TRY_ASSIGN(options.selectors, ParsePairs("--selector", flags.selectors));
  TRY_ASSIGN(options.tolerations, ParseTolerations(flags.tolerations));
  TRY(CheckNumbers(flags));
  return CheckOurs(flags);
}

}  // namespace

base::Status CheckJobName(std::string_view name) {
  if (name.empty()) return Refuse("--name must be set");
  if (name.size() > kMaxNameLength) {
    return Refuse(fmt::format("the len {} of name {} is too long, it should be less than {}",
                              name.size(), name, kMaxNameLength));
  }
  const bool is_valid =
      IsLower(name.front()) && IsLower(name.back()) &&
      std::all_of(name.begin(), name.end(), [](char c) { return IsLower(c) || c == '-'; });
  if (!is_valid) {
    return Refuse(
        "the job name must consist of lower case alphanumeric characters, '-' or '.', and must "
        "start "
        "and end with an alphanumeric character");
  }
  return {};
}

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
    if (name.size() < 2) {
      return base::Fail(
          base::Code::kInvalidArgument,
          "volume name is too short, names should be at least two alphanumeric characters");
    }
    if (!IsAlphanumeric(name[0]) || !std::all_of(name.begin(), name.end(), [](char c) {
          return IsAlphanumeric(c) || c == '_' || c == '.' || c == '-';
        })) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("\"{}\" includes invalid characters for a local volume name, only "
                      "\"[a-zA-Z0-9][a-zA-Z0-9_.-]\" are allowed. If you intended to pass a host "
                      "directory, use absolute path",
                      name));
    }
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

base::Result<Pairs> ParseDevices(const std::vector<std::string>& values) {
  Pairs devices;
  for (const std::string& value : values) {
    const size_t equals = value.find('=');
    if (equals == std::string::npos) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("invalid device '{}', refer to amd.com/gpu=1", value));
    }
    const std::string name = value.substr(0, equals);
    const std::string quantity = value.substr(equals + 1);
    if (!IsQualifiedName(name)) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("device name '{}' is not a qualified name", name));
    }
    if (name == "nvidia.com/gpu") {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("please use '--gpus {}' instead of '--device nvidia.com/gpu={}'", quantity,
                      quantity));
    }
    if (!IsQuantity(quantity)) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("device value '{}' is not a valid quantity, refer to amd.com/gpu=1",
                      quantity));
    }
    devices.emplace_back(name, quantity);
  }
  return devices;
}

base::Result<std::vector<Toleration>> ParseTolerations(const std::vector<std::string>& values) {
  std::vector<Toleration> tolerations;
  for (const std::string& value : values) {
    if (value == "all") return std::vector<Toleration>{{"", "", "", "Exists"}};
    const size_t comma = value.find(',');
    const size_t colon = value.rfind(':', comma);
    const size_t equals = value.find('=');
    if (comma == std::string::npos || colon == std::string::npos || equals == std::string::npos ||
        equals == 0 || equals > colon) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format(
              "--toleration \"{}\" is invalid, should like key=value:effect,operator or all",
              value));
    }
    tolerations.push_back({value.substr(0, equals), value.substr(equals + 1, colon - equals - 1),
                           value.substr(colon + 1, comma - colon - 1), value.substr(comma + 1)});
  }
  return tolerations;
}

base::Result<std::vector<ConfigFile>> ReadConfigFiles(const std::vector<std::string>& values,
                                                      const base::Environment& environment) {
  std::vector<ConfigFile> files;
  std::set<std::string> seen;
  for (const std::string& value : values) {
    TRY_ASSIGN(ConfigFile file, ReadConfigFile(value, environment));
    if (!seen.insert(file.container_path).second) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("--config-file \"{}\" is invalid: {} is given twice", value,
                                    file.container_path));
    }
    files.push_back(std::move(file));
  }
  return files;
}

base::Result<std::map<std::string, std::string>> ParsePairs(
    std::string_view flag, const std::vector<std::string>& values) {
  std::map<std::string, std::string> pairs;
  for (const std::string& value : values) {
    const size_t equals = value.find('=');
    if (equals == std::string::npos || equals == 0) {
      // Whatever stands there may be a secret that lost its name: only its start is shown.
      constexpr size_t kShown = 16;
      const std::string shown = value.size() > kShown ? value.substr(0, kShown) + "..." : value;
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("{} \"{}\" is invalid, should like key=value", flag, shown));
    }
    pairs[value.substr(0, equals)] = value.substr(equals + 1);
  }
  return pairs;
}

std::string GitProject(std::string_view source) {
  while (source.ends_with('/')) source.remove_suffix(1);
  const size_t slash = source.find_last_of("/:");
  if (slash != std::string_view::npos) source.remove_prefix(slash + 1);
  const std::string_view project = source.substr(0, source.find(".git"));
  return std::string(project.empty() ? source : project);
}

std::optional<std::string> TakePasswordOfUrl(std::string& url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string::npos) return std::nullopt;
  const size_t authority = scheme + 3;
  const size_t end = std::min(url.find('/', authority), url.size());
  const size_t at = url.rfind('@', end);
  if (at == std::string::npos || at < authority) return std::nullopt;
  const size_t colon = url.find(':', authority);
  if (colon == std::string::npos || colon > at) return std::nullopt;
  std::string password = PercentDecoded(std::string_view(url).substr(colon + 1, at - colon - 1));
  url.erase(colon, at - colon);
  return password;
}

base::Result<SubmitOptions> CheckSubmit(const SubmitFlags& flags,
                                        const std::vector<std::string>& command,
                                        const base::Environment& environment) {
  const auto checked = [&]() -> base::Result<SubmitOptions> {
    SubmitOptions options;
    options.flags = flags;
    options.command = base::Join(command, " ");
    TRY(CheckJobName(flags.name));
    TRY(ParseAll(options, environment));
    return options;
  };
  base::Result<SubmitOptions> options = checked();
  if (!options) return base::Fail(options.error().Wrap("failed to validate command args"));
  WarnOfUnknownGitVariables(*options);
  TakePassword(*options);
  if (options->flags.image_pull_secrets.empty()) {
    const auto config = ReadArenaConfig(environment);
    if (const auto it = config.find("imagePullSecrets"); it != config.end()) {
      for (const std::string& secret : base::Split(it->second, ',')) {
        if (!base::Trim(secret).empty()) {
          options->flags.image_pull_secrets.emplace_back(base::Trim(secret));
        }
      }
    }
  }
  return options;
}

}  // namespace arena
