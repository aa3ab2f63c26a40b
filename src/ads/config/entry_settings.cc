#include "ads/config/entry_settings.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace ads {
namespace {

constexpr std::string_view kOciScheme = "oci://";

base::Result<int64_t> ReadCount(const base::Environment& environment, const char* name,
                                int64_t otherwise, int64_t least) {
  const auto text = environment.Get(name);
  if (!text) return otherwise;
  const std::optional<int64_t> number = base::ParseInt(base::Trim(*text));
  if (number && *number >= least) return *number;
  return base::Fail(
      base::Code::kInvalidArgument,
      fmt::format("ValueError: {}={}: a whole number from {} on is wanted", name, *text, least));
}

std::string Unslashed(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  return text;
}

// Replaces %q{NAME}.
std::string WithVariables(const std::string& word, const base::Environment& environment) {
  std::string out;
  for (size_t at = 0; at < word.size();) {
    const size_t close = word.compare(at, 3, "%q{") == 0 ? word.find('}', at) : std::string::npos;
    if (close == std::string::npos) {
      out += word[at++];
      continue;
    }
    out += environment.GetOr(word.substr(at + 3, close - at - 3), "");
    at = close + 1;
  }
  return out;
}

// nsys overwrites a report of the same name, so each rank gets its own.
void SeparateReports(std::vector<std::string>& words) {
  if (words.empty() || !words[0].ends_with("nsys")) return;
  const auto separate = [](std::string& value) {
    if (value.find('%') == std::string::npos) value += "_rank%q{RANK}";
  };
  for (size_t i = 1; i < words.size(); ++i) {
    if ((words[i] == "-o" || words[i] == "--output") && i + 1 < words.size()) {
      separate(words[++i]);
    } else if (words[i].starts_with("--output=")) {
      separate(words[i]);
    }
  }
}

}  // namespace

std::string EntrySettings::MeetingUri() const { return Unslashed(work_dir) + "/" + job_ocid; }

base::Result<EntrySettings> ReadEntrySettings(const base::Environment& environment,
                                              const std::string& new_id) {
  EntrySettings settings;
  const auto get = [&](const char* name) { return environment.GetOr(name, ""); };
  if (!environment.Get("RANK")) {
    return base::Fail(base::Code::kInvalidArgument,
                      "KeyError: RANK is not set: 0 on the main node, 1 and up on the workers");
  }
  TRY_ASSIGN(settings.rank, ReadCount(environment, "RANK", 0, 0));
  TRY_ASSIGN(settings.worker_count, ReadCount(environment, "OCI__WORKER_COUNT", 0, 0));
  settings.work_dir = get("OCI__WORK_DIR");
  settings.job_ocid = environment.GetOr("JOB_OCID", settings.job_ocid);
  settings.job_run_ocid = environment.GetOr("JOB_RUN_OCID", new_id);
  settings.node_ip = get("OCI__NODE_IP");
  settings.local_folder = get("OCI__LOCAL_FOLDER");
  settings.is_environment = get("OCI__RENDEZVOUS") == "environment";
  settings.master_addr = get("MASTER_ADDR");
  settings.master_port = environment.GetOr("MASTER_PORT", settings.master_port);
  const bool has_work_dir = !settings.work_dir.empty() && settings.work_dir != "None";
  if (!settings.is_environment && !has_work_dir) {
    return base::Fail(base::Code::kInvalidArgument,
                      "ValueError: OCI__WORK_DIR is not set: oci://bucket@namespace/prefix or "
                      "file:///folder, where the nodes meet (workDir in the YAML)");
  }
  if (settings.is_environment && settings.master_addr.empty()) {
    return base::Fail(base::Code::kInvalidArgument,
                      "ValueError: MASTER_ADDR is not set, and OCI__RENDEZVOUS=environment");
  }
  TRY_ASSIGN(const int64_t timeout, ReadCount(environment, "OCI__TIMEOUT", 600, 1));
  settings.timeout = std::chrono::seconds(timeout);
  settings.entry_script = get("OCI__ENTRY_SCRIPT");
  if (settings.entry_script.empty() || settings.entry_script == "None") {
    return base::Fail(base::Code::kInvalidArgument,
                      "ValueError: OCI__ENTRY_SCRIPT is not set: the script to run (entryPoint in "
                      "the YAML)");
  }
  settings.entry_args = get("OCI__ENTRY_SCRIPT_ARGS");
  settings.code_dir = environment.GetOr("OCI__CODE_DIR", settings.code_dir);
  settings.runtime_type = get("OCI__RUNTIME_TYPE");
  settings.uri = get("OCI__RUNTIME_URI");
  settings.branch = get("OCI__RUNTIME_GIT_BRANCH");
  settings.commit = get("OCI__RUNTIME_GIT_COMMIT");
  settings.git_secret_id = get("OCI__RUNTIME_GIT_SECRET_ID");
  settings.git_key_path = get("OCI__GIT_SSH_KEY_PATH");
  settings.python_path = get("OCI__RUNTIME_PYTHON_PATH");
  if (get("PROFILE") == "1") settings.profile_command = get("PROFILE_CMD");
  settings.is_synced = get("SYNC_ARTIFACTS") == "1";
  settings.sync_dir = get("OCI__SYNC_DIR");
  settings.workspace = get("WORKSPACE");
  settings.workspace_prefix = get("WORKSPACE_PREFIX");
  TRY_ASSIGN(const int64_t interval, ReadCount(environment, "SYNC_SLEEP", 60, 1));
  settings.sync_interval = std::chrono::seconds(interval);
  if (environment.Get("POST_PROCESSING_WAIT")) {
    TRY_ASSIGN(const int64_t wait, ReadCount(environment, "POST_PROCESSING_WAIT", 0, 0));
    settings.post_wait = std::chrono::seconds(wait);
  }
  if (!settings.local_folder.empty()) {
    const std::string own = fmt::format("{}/node-{}", settings.local_folder, settings.rank);
    if (settings.sync_dir.empty()) settings.sync_dir = own + "/artifacts";
    if (!settings.runtime_type.empty()) settings.code_dir = own + "/code";
    settings.git_key_path.clear();  // the nodes would share it
  }
  return settings;
}

std::optional<SyncPlace> FindSyncPlace(const EntrySettings& settings) {
  SyncPlace place;
  const std::string& uri = settings.work_dir;
  if (uri.starts_with(kOciScheme)) {
    const size_t at = uri.find('@');
    const size_t slash = uri.find('/', kOciScheme.size());
    const size_t bucket_end = std::min({at, slash, uri.size()});
    place.bucket = uri.substr(kOciScheme.size(), bucket_end - kOciScheme.size());
    if (at != std::string::npos && at < slash) {
      place.bucket_namespace = uri.substr(at + 1, std::min(slash, uri.size()) - at - 1);
    }
    if (slash != std::string::npos) place.prefix = uri.substr(slash + 1);
  }
  if (!settings.workspace.empty()) {
    place.bucket = settings.workspace;
    place.prefix = settings.workspace_prefix;
  }
  if (place.bucket.empty()) return std::nullopt;
  while (place.prefix.starts_with('/')) place.prefix.erase(0, 1);
  place.prefix = Unslashed(place.prefix);
  return place;
}

std::optional<std::string> SyncUri(const EntrySettings& settings) {
  const std::string below = fmt::format("sync/{}/{}", settings.job_ocid, settings.job_run_ocid);
  const auto place = FindSyncPlace(settings);
  if (place) {
    return fmt::format("oci://{}@{}/{}{}{}", place->bucket, place->bucket_namespace, place->prefix,
                       place->prefix.empty() ? "" : "/", below);
  }
  const std::string& uri = settings.work_dir;
  if (uri.empty() || uri == "None" || uri.starts_with(kOciScheme)) return std::nullopt;
  return Unslashed(uri) + "/" + below;
}

base::Result<std::vector<std::string>> TrainingCommand(const EntrySettings& settings,
                                                       const base::Environment& environment,
                                                       const std::string& python) {
  std::vector<std::string> command;
  for (const std::string& word : base::Split(settings.profile_command, ' ')) {
    if (!word.empty()) command.push_back(word);
  }
  SeparateReports(command);
  for (std::string& word : command) word = WithVariables(word, environment);
  command.push_back(python);
  command.push_back(settings.entry_script.starts_with('/')
                        ? settings.entry_script
                        : Unslashed(settings.code_dir) + "/" + settings.entry_script);
  const auto args = base::ShellWords(settings.entry_args, base::WordRules::kShlex);
  if (!args) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("OCI__ENTRY_SCRIPT_ARGS: ValueError: No closing quotation: {}",
                                  settings.entry_args));
  }
  command.insert(command.end(), args->begin(), args->end());
  return command;
}

}  // namespace ads
