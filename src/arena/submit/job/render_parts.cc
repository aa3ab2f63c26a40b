#include "arena/submit/job/render_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "arena/jobs/tensorboard.h"
#include "base/strings.h"

namespace arena {

text::Json NewObject(std::string_view api_version, std::string_view kind, std::string name,
                     const Submission& submission, text::Object labels) {
  return text::Object{{"apiVersion", api_version},
                      {"kind", kind},
                      {"metadata", text::Object{{"name", name},
                                                {"namespace", submission.namespace_name},
                                                {"labels", std::move(labels)}}}};
}

text::Object ToObject(const std::map<std::string, std::string>& pairs) {
  text::Object object;
  for (const auto& [key, value] : pairs) object[key] = value;
  return object;
}

text::Object ChartLabels(const SubmitOptions& options) {
  return {{"app", "pytorchjob"},
          {"chart", fmt::format("pytorchjob-{}", kChartVersion)},
          {"release", options.flags.name},
          {"heritage", "Helm"},
          {"createdBy", "PyTorchJob"}};
}

std::optional<std::string> PathBelow(std::string_view folder, std::string_view path) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  if (!path.starts_with(folder)) return std::nullopt;
  path.remove_prefix(folder.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return std::string(path);
}

bool HasLocalLogs(const SubmitOptions& options) {
  const std::string& logdir = options.flags.logdir;
  if (!options.flags.tensorboard || !logdir.starts_with('/')) return false;
  const auto holds = [&](std::string_view path) { return PathBelow(path, logdir).has_value(); };
  // Arena knows those of --data only, and hides a part of the others under its own.
  return std::none_of(options.data.begin(), options.data.end(),
                      [&](const DataMount& data) { return holds(data.path); }) &&
         std::none_of(options.data_dirs.begin(), options.data_dirs.end(),
                      [&](const HostDir& dir) { return holds(dir.container_path); });
}

std::string ChiefName(const SubmitOptions& options) {
  return fmt::format("{}-{}-0", options.flags.name, options.elastic ? "worker" : "master");
}

std::string SecretFile(std::string_view key) {
  return fmt::format("{}/{}", kCodeFilesDirectory, key);
}

bool HasCodeFiles(const SubmitOptions& options) {
  return options.code_secrets.ssh_key || options.code_secrets.known_hosts;
}

text::Json CodeFilesVolume(const SubmitOptions& options) {
  constexpr int kOwnerReads = 0400;
  text::Array items;
  const auto add = [&](std::string_view key) {
    items.push_back(text::Object{{"key", key}, {"path", key}});
  };
  if (options.code_secrets.ssh_key) add(kSshKeyFile);
  if (options.code_secrets.known_hosts) add(kKnownHostsFile);
  return text::Object{{"name", kCodeFilesVolume},
                      {"secret", text::Object{{"secretName", CodeSecretName(options)},
                                              {"items", std::move(items)},
                                              {"defaultMode", kOwnerReads}}}};
}

std::string_view PasswordVariable(const SubmitOptions& options) {
  return options.flags.sync_mode == "rsync" ? "RSYNC_PASSWORD" : "GIT_SYNC_PASSWORD";
}

bool IsPasswordOfCode(const SubmitOptions& options, std::string_view variable) {
  return options.FetchesCode() && variable == PasswordVariable(options);
}

std::vector<std::string> CodePartNames(const SubmitOptions& options) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < options.code_archive.size(); begin += kCodePartBytes) {
    names.push_back(fmt::format("{}-code-{}", options.flags.name, names.size()));
  }
  return names;
}

std::string ClaimVolume(const SubmitOptions& options, size_t index) {
  const std::string& claim = options.data[index].claim;
  bool is_taken = claim == kSharedMemoryVolume || claim == kCodeVolume || claim == kLogsVolume ||
                  claim == kCodeFilesVolume;
  for (size_t i = 0; i < options.data_dirs.size(); ++i) {
    is_taken = is_taken || claim == fmt::format("{}{}", kHostDirVolume, i);
  }
  const bool is_plain =
      claim.size() <= api::kMaxLabelLength && claim.find('.') == std::string::npos;
  return is_plain && !is_taken ? claim : fmt::format("claim-of-data-{}", index);
}

text::Object VolumeMount(std::string_view volume, std::string_view path, bool read_only) {
  text::Object mount{{"name", volume}, {"mountPath", path}};
  if (read_only) mount["readOnly"] = true;
  return mount;
}

text::Array Tolerations(const SubmitOptions& options) {
  text::Array array;
  for (const Toleration& toleration : options.tolerations) {
    text::Object object;
    if (!toleration.key.empty()) object["key"] = toleration.key;
    if (!toleration.op.empty()) object["operator"] = toleration.op;
    // The API refuses a value beside Exists.
    if (!toleration.key.empty() && toleration.op != "Exists") object["value"] = toleration.value;
    if (!toleration.effect.empty()) object["effect"] = toleration.effect;
    array.push_back(std::move(object));
  }
  return array;
}

text::Array ImagePullSecrets(const SubmitOptions& options) {
  text::Array array;
  for (const std::string& name : options.flags.image_pull_secrets) {
    array.push_back(text::Object{{"name", name}});
  }
  return array;
}

std::vector<ConfigDirectory> ConfigDirectories(const SubmitOptions& options) {
  constexpr size_t kDigits = 15;
  std::vector<ConfigDirectory> directories;
  for (const ConfigFile& file : options.config_files) {
    const size_t slash = file.container_path.rfind('/');
    const std::string path = slash == 0 ? "/" : file.container_path.substr(0, slash);
    ConfigDirectory* found = nullptr;
    for (ConfigDirectory& directory : directories) {
      if (directory.path == path) found = &directory;
    }
    if (found == nullptr) {
      const std::string suffix = base::Md5Hex(path).substr(0, kDigits);
      const std::string config_map = fmt::format("{}-{}", options.flags.name, suffix);
      const bool is_plain = config_map.size() <= api::kMaxLabelLength;
      found = &directories.emplace_back(
          ConfigDirectory{path, config_map, is_plain ? config_map : "config-files-" + suffix, {}});
    }
    found->files.push_back(&file);
  }
  return directories;
}

}  // namespace arena
