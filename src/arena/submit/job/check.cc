#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <set>

#include "api/job/pytorch_job.h"
#include "api/names.h"
#include "api/on_stall.h"
#include "api/stop_on_nan.h"
#include "arena/app/app.h"
#include "arena/submit/job/files.h"
#include "arena/submit/job/options.h"
#include "arena/submit/job/refusal.h"
#include "base/file.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace arena {
namespace {

constexpr size_t kMaxNameLength = 49;
constexpr size_t kMaxConfigFileBytes = 1 << 20;  // a ConfigMap's limit
constexpr int64_t kMaxWorkers = 100'000;
constexpr int64_t kMaxGpus = 10'000;

bool IsQuantity(const std::string& text) {
  const auto value = base::ParseQuantityMilli(text);
  return value && *value >= 0;
}

base::Status CheckQuantity(std::string_view flag, const std::string& text, const char* examples) {
  if (text.empty() || IsQuantity(text)) return {};
  return Refuse(fmt::format("{} is invalid: give {}, not \"{}\"", flag, examples, text));
}

base::Status CheckTime(std::string_view flag, std::chrono::nanoseconds time) {
  if (time.count() < 0) {
    return Refuse(fmt::format("{} is invalid: it must not be negative", flag));
  }
  if (time.count() > 0 && time < std::chrono::seconds(1)) {
    return Refuse(fmt::format("{} is invalid: it counts whole seconds", flag));
  }
  return {};
}

// The checks that need nothing but the value itself, in Arena's order.
base::Status CheckNumbers(const SubmitFlags& flags) {
  const std::string& policy = flags.clean_task_policy;
  if (policy != "None" && policy != "Running" && policy != "All") {
    return Refuse(fmt::format(
        "unsupported cleanTaskPolicy {}: --clean-task-policy is Running, All or None", policy));
  }
  if (flags.gpus < 0) return Refuse("--gpus is invalid: it must not be negative");
  if (flags.gpus > kMaxGpus) return Refuse("--gpus is invalid: it is the number per replica");
  if (flags.workers < 1) {
    return Refuse("--workers is invalid: it counts the master too, so it must be at least 1");
  }
  if (flags.workers > kMaxWorkers) {
    return Refuse(fmt::format("--workers is invalid: it must be at most {}", kMaxWorkers));
  }
  if (flags.retry < 0 || flags.retry > std::numeric_limits<int32_t>::max()) {
    return Refuse(fmt::format("--retry is invalid: it is a number from 0 to {}",
                              std::numeric_limits<int32_t>::max()));
  }
  constexpr const char* kSizes = "a size such as 512Mi, 4Gi or 4G";
  TRY(CheckQuantity("--cpu", flags.cpu, "a number such as 2 or 500m"));
  TRY(CheckQuantity("--memory", flags.memory, kSizes));
  TRY(CheckTime("--running-timeout", flags.running_timeout));
  TRY(CheckTime("--ttl-after-finished", flags.ttl_after_finished));
  return CheckQuantity("--share-memory", flags.share_memory, kSizes);
}

base::Status CheckChoice(std::string_view flag, const std::string& value,
                         const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
  return Refuse(
      fmt::format("{} is invalid: {}, not \"{}\"", flag, base::Join(choices, ", "), value));
}

base::Status CheckImages(const SubmitFlags& flags) {
  const std::pair<const char*, const std::string*> images[] = {
      {"--image", &flags.image},
      {"--master-image", &flags.master_image},
      {"--worker-image", &flags.worker_image},
      {"--sync-image", &flags.sync_image},
      {"--tensorboard-image", &flags.tensorboard_image}};
  for (const auto& [flag, image] : images) {
    if (image->find_first_of(" \t\r\n") == std::string::npos) continue;
    return Refuse(
        fmt::format("{} \"{}\" is invalid: the name of an image has no blanks", flag, *image));
  }
  return {};
}

// Values that Arena passes on unchecked, and those of muster's own flags.
base::Status CheckOurs(const SubmitFlags& flags) {
  TRY(CheckDryRun(flags));
  TRY(CheckChoice("--output", flags.output, {"yaml", "json"}));
  TRY(CheckChoice("--image-pull-policy", flags.image_pull_policy,
                  {"Always", "IfNotPresent", "Never"}));
  if (!flags.restart_policy.empty()) {
    TRY(CheckChoice("--restart-policy", flags.restart_policy,
                    {api::kRestartPolicies.begin(), api::kRestartPolicies.end()}));
  }
  TRY(CheckChoice("--on-stall", flags.on_stall,
                  {api::kOnStallChoices.begin(), api::kOnStallChoices.end()}));
  if (flags.stall_after < 1 || flags.stall_after > api::kLongestStallAfter.count()) {
    return Refuse(fmt::format("--stall-after is invalid: give 1 to {} seconds",
                              api::kLongestStallAfter.count()));
  }
  if (flags.shell.empty()) return Refuse("--shell is invalid: it names the program, as sh or bash");
  if (!flags.working_dir.starts_with('/')) {
    return Refuse(
        fmt::format("--working-dir is invalid: '{}' must be absolute", flags.working_dir));
  }
  TRY(CheckImages(flags));
  if (!flags.scheduler.empty() && !api::IsObjectName(flags.scheduler)) {
    return Refuse(
        fmt::format("--scheduler \"{}\" is invalid: use lower case letters, digits, '-' and '.'",
                    flags.scheduler));
  }
  for (const std::string& secret : flags.image_pull_secrets) {
    if (!api::IsObjectName(secret)) {
      return Refuse(fmt::format(
          "--image-pull-secret \"{}\" is invalid: it is not a name of a secret", secret));
    }
  }
  if (!flags.wait_for.empty() && flags.queue) {
    return Refuse("--wait-for and --queue contradict each other: both say when the job starts");
  }
  const bool is_dry = flags.dry_run != "none";
  if (is_dry && (flags.wait || flags.follow)) {
    return Refuse(fmt::format("--dry-run creates no job: {} cannot be combined with it",
                              flags.wait ? "--wait" : "--follow"));
  }
  if (flags.is_output_given && flags.dry_run == "schedule") {
    return Refuse("--dry-run=schedule prints no objects: --output cannot be combined with it");
  }
  if (flags.is_output_given && !is_dry) {
    return Refuse("--output is the form of what --dry-run prints: give --dry-run too");
  }
  return {};
}

// For an elastic job, --workers is the initial number.
base::Status CheckElastic(SubmitOptions& options) {
  SubmitFlags& flags = options.flags;
  if (flags.elastic.empty()) return {};
  TRY_ASSIGN(options.elastic, ParseElastic(flags.elastic));
  const Elastic& elastic = *options.elastic;
  if (!flags.master_image.empty()) {
    return Refuse(
        "--master-image cannot be combined with --elastic: an elastic job has workers only");
  }
  if (!flags.are_workers_given) flags.workers = elastic.min;
  if (flags.workers < elastic.min || flags.workers > elastic.max) {
    return Refuse(fmt::format("--workers is invalid: {} is not between {} and {} (--elastic)",
                              flags.workers, elastic.min, elastic.max));
  }
  return {};
}

// One name, one value.
base::Status CheckVariables(const SubmitOptions& options) {
  for (const SecretEnv& variable : options.secret_env) {
    if (options.env.contains(variable.name)) {
      return Refuse(fmt::format("--env-from-secret and --env both set {}: leave out one of them",
                                variable.name));
    }
  }
  return {};
}

base::Status CheckConfigPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == 0) {
    return Refuse(
        fmt::format("--config-file \"{}\" is invalid: all of its directory would be hidden, which "
                    "cannot be /",
                    path));
  }
  const std::string name = path.substr(slash + 1);
  const bool is_key = std::all_of(name.begin(), name.end(), api::IsNameCharacter);
  if (is_key && name != "." && name != "..") return {};
  return Refuse(
      fmt::format("--config-file \"{}\" is invalid: the name of the file in the container must be "
                  "letters, digits, '-', '_' and '.'",
                  path));
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
  file.host_path = AtHome(parts[0], environment);
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
  if (S_ISDIR(info.st_mode)) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("--config-file \"{}\" is invalid: it is a directory, not a file",
                                  file.host_path));
  }
  TRY(CheckConfigPath(file.container_path));
  TRY_ASSIGN(file.content, base::ReadFile(file.host_path, kMaxConfigFileBytes));
  return file;
}

// It becomes a label.
base::Status CheckModelName(const std::string& name) {
  if (name.empty() || ParseLabels("--model-name", {"modelName=" + name})) return {};
  return Refuse(fmt::format(
      "--model-name \"{}\" is invalid: letters, digits, '-', '_' and '.', at most 63 of "
      "them",
      name));
}

// NAME alone takes the caller's own value; if the caller has none, it is refused like everything
// else that has no value.
std::string WithValue(const std::string& entry, const base::Environment& environment) {
  const auto value = environment.Get(entry);
  return value ? entry + "=" + *value : entry;
}

// What muster itself reads in the job.
bool IsSetting(std::string_view variable) {
  return variable.starts_with("PET_") || variable.starts_with("MUSTER_");
}

// Without --retry a job is never restarted, whatever its policy says.
void WarnOfNoRetries(SubmitOptions& options) {
  const SubmitFlags& flags = options.flags;
  const bool may_restart = !flags.restart_policy.empty() && flags.restart_policy != "Never";
  if (!may_restart || flags.retry > 0 || options.env.contains("PET_MAX_RESTARTS")) return;
  options.warnings.push_back(
      fmt::format("--restart-policy={} without --retry: nothing is restarted after a failure",
                  flags.restart_policy));
}

// The ranks of other pods usually fail with the one that is killed, and each restart counts.
void WarnOfFewRetries(SubmitOptions& options) {
  const SubmitFlags& flags = options.flags;
  if (flags.on_stall != "restart" || options.env.contains("PET_MAX_RESTARTS")) return;
  if (flags.retry == 0) {
    options.warnings.emplace_back(
        "--on-stall=restart without --retry: the job fails at its first stall");
  } else if (flags.retry <= flags.workers) {
    options.warnings.push_back(fmt::format(
        "--on-stall=restart with --retry={}: the job may fail at its first stall, because the "
        "restart of each pod counts; --retry={} is enough for one stall",
        flags.retry, flags.workers + 1));
  }
}

// The files first, so that what was typed wins.
base::Status ParseVariables(SubmitOptions& options, const base::Environment& environment) {
  std::vector<std::string> entries;
  for (const std::string& file : options.flags.env_files) {
    TRY_ASSIGN(const std::string text,
               ReadSecretFile("--env-file", file, environment, options.warnings));
    const auto lines = ParseEnvFile(text, environment);
    if (!lines) return Fail(lines.error().Wrap("--env-file " + file));
    entries.insert(entries.end(), lines->begin(), lines->end());
  }
  TRY_ASSIGN(options.private_env, ParseEnv(entries));
  for (const std::string& typed : options.flags.env) {
    const std::string& entry = entries.emplace_back(WithValue(typed, environment));
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    options.private_env.erase(entry.substr(0, equals));
    if (entry != typed) options.private_env[typed] = entry.substr(equals + 1);
  }
  TRY_ASSIGN(options.env, ParseEnv(entries));
  std::erase_if(options.private_env,
                [](const auto& variable) { return IsSetting(variable.first); });
  const SubmitFlags& flags = options.flags;
  if (flags.stop_on_nan) options.env[std::string(api::kStopOnNanVariable)] = "1";
  // A variable of --env says so, too, unless the flag contradicts it.
  if (flags.on_stall != "report" || flags.is_on_stall_given) {
    options.env[std::string(api::kOnStallVariable)] = flags.on_stall;
  }
  WarnOfFewRetries(options);
  WarnOfNoRetries(options);
  if (flags.stall_after != api::kUsualStallAfter.count()) {
    options.env[std::string(api::kStallAfterVariable)] = std::to_string(flags.stall_after);
  }
  return {};
}

base::Status ParseAll(SubmitOptions& options, const base::Environment& environment) {
  const SubmitFlags& flags = options.flags;
  TRY_ASSIGN(options.data, ParseData(flags.data));
  if (!flags.model_name.empty() && flags.model_source.empty()) {
    return Refuse("model version source must be specified when registering a model version");
  }
  if (flags.model_name.empty() && !flags.model_source.empty()) {
    options.warnings.emplace_back("--model-source is ignored: it is only for --model-name");
  }
  TRY(ParseVariables(options, environment));
  TRY_ASSIGN(options.secret_env, ParseSecretEnv(flags.secret_env));
  TRY(CheckVariables(options));
  TRY(CheckCode(options, environment));
  TRY_ASSIGN(options.data_dirs, ParseDataDirs(flags.data_dirs));
  TRY_ASSIGN(options.devices, ParseDevices(flags.devices));
  TRY_ASSIGN(options.config_files, ReadConfigFiles(flags.config_files, environment));
  TRY_ASSIGN(options.labels, ParseJobLabels(flags.labels));
  TRY_ASSIGN(options.annotations, ParseAnnotations(flags.annotations));
  TRY_ASSIGN(options.selectors, ParseLabels("--selector", flags.selectors));
  TRY_ASSIGN(options.tolerations, ParseTolerations(flags.tolerations));
  TRY(CheckElastic(options));
  TRY(CheckNumbers(flags));
  TRY(CheckTorchrun(options));
  TRY(CheckOurs(flags));
  TRY(CheckModelName(flags.model_name));
  if (!flags.wait_for.empty() && options.labels.contains(std::string(api::kKueueQueueLabel))) {
    return Refuse(
        fmt::format("--wait-for and --label={} contradict each other: Kueue starts the "
                    "jobs of its queues",
                    api::kKueueQueueLabel));
  }
  TRY(CheckMounts(options));
  // Not before: the checks are for all variables. CheckCode has taken some of them away.
  std::erase_if(options.private_env,
                [&](const auto& variable) { return options.env.erase(variable.first) == 0; });
  return {};
}

}  // namespace

base::Status CheckDryRun(const SubmitFlags& flags) {
  return CheckChoice("--dry-run", flags.dry_run, {"none", "client", "server", "schedule"});
}

base::Status CheckJobName(std::string_view name) {
  if (name.empty()) return Refuse("--name must be set");
  if (name.size() > kMaxNameLength) {
    return Refuse(fmt::format("the len {} of name {} is too long, it should be less than {}",
                              name.size(), name, kMaxNameLength));
  }
  if (!api::IsDnsLabel(name)) {
    return Refuse(
        "the job name must consist of lower case alphanumeric characters, '-' or '.', and must "
        "start and end with an alphanumeric character");
  }
  return {};
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
    if (!api::IsQualifiedName(name)) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("device name '{}' is not a qualified name", name));
    }
    const bool is_repeated = std::any_of(devices.begin(), devices.end(),
                                         [&](const auto& other) { return other.first == name; });
    if (is_repeated) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("device '{}' is repeated, please check it", name));
    }
    if (name == "cpu" || name == "memory") {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("please use '--{} {}' instead of '--device {}={}'", name,
                                    quantity, name, quantity));
    }
    if (name == "nvidia.com/gpu") {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("please use '--gpus {}' instead of '--device nvidia.com/gpu={}'", quantity,
                      quantity));
    }
    // An extended resource is whole.
    if (!IsQuantity(quantity) || *base::ParseQuantityMilli(quantity) % 1000 != 0) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("device value '{}' is not a valid quantity, refer to amd.com/gpu=1",
                      quantity));
    }
    devices.emplace_back(name, quantity);
  }
  return devices;
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

base::Result<SubmitOptions> CheckSubmit(const SubmitFlags& flags,
                                        const std::vector<std::string>& command,
                                        const base::Environment& environment) {
  const auto checked = [&]() -> base::Result<SubmitOptions> {
    SubmitOptions options;
    options.flags = flags;
    if (flags.ignores_malformed) options.warnings = TakeMalformed(options.flags, environment);
    options.command = base::Join(command, " ");
    TRY(CheckJobName(flags.name));
    if (!base::IsUtf8(options.command)) TRY(Refuse("the command is not UTF-8"));
    TRY(ParseAll(options, environment));
    return options;
  };
  base::Result<SubmitOptions> options = checked();
  if (!options) return base::Fail(options.error().Wrap(kRefused));
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
