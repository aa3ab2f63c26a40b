// Parts that several rendered objects share. Private to the submit files.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arena/submit/job/objects.h"

namespace arena {

// apiVersion, kind, metadata {name, namespace, labels}.
text::Json NewObject(std::string_view api_version, std::string_view kind, std::string name,
                     const Submission& submission, text::Object labels);
text::Object ToObject(const std::map<std::string, std::string>& pairs);
// app, chart, release, heritage, createdBy.
text::Object ChartLabels(const SubmitOptions& options);

// What is left of a path at or below that folder: "" or "/rest"; nullopt if it is elsewhere.
std::optional<std::string> PathBelow(std::string_view folder, std::string_view path);
// Whether --logdir is on none of the --data and --data-dir mounts, so that it needs a host path.
bool HasLocalLogs(const SubmitOptions& options);

// <job>-master-0, or an elastic job's first worker.
std::string ChiefName(const SubmitOptions& options);

// The Secret of the container that fetches the code: its keys, and where its files are.
inline constexpr std::string_view kPasswordKey = "password";
inline constexpr std::string_view kSshKeyFile = "ssh";
inline constexpr std::string_view kKnownHostsFile = "known_hosts";
inline constexpr std::string_view kCodeFilesVolume = "git-secret";
inline constexpr std::string_view kCodeFilesDirectory = "/etc/git-secret";  // git-sync's own
std::string SecretFile(std::string_view key);
// Whether it contains files to mount.
bool HasCodeFiles(const SubmitOptions& options);
text::Json CodeFilesVolume(const SubmitOptions& options);
// GIT_SYNC_PASSWORD or RSYNC_PASSWORD.
std::string_view PasswordVariable(const SubmitOptions& options);
// Whether only the container that fetches the code may have this variable.
bool IsPasswordOfCode(const SubmitOptions& options, std::string_view variable);

// The volume of options.data[index], named after its claim if that is a valid volume name (no dots,
// 63 characters) that no other volume of the job has.
std::string ClaimVolume(const SubmitOptions& options, size_t index);

// An entry of volumeMounts.
text::Object VolumeMount(std::string_view volume, std::string_view path, bool read_only);
text::Array Tolerations(const SubmitOptions& options);
text::Array ImagePullSecrets(const SubmitOptions& options);

// A container directory of --config-file, and its ConfigMap.
struct ConfigDirectory {
  std::string path;
  std::string config_map;
  std::string volume;  // its name: that of the ConfigMap, if a volume's name may be as long
  std::vector<const ConfigFile*> files;
};
std::vector<ConfigDirectory> ConfigDirectories(const SubmitOptions& options);

// Where the code's volume is mounted in the container that unpacks SubmitOptions::code_archive, and
// in the replicas of `run`.
inline constexpr std::string_view kCodeFolder = "/muster/code";
// A ConfigMap's limit is 1 MiB with its metadata, and base64 needs 4/3 of an archive's bytes.
inline constexpr size_t kCodePartBytes = 675 << 10;
// The ConfigMaps of the archive, in order.
std::vector<std::string> CodePartNames(const SubmitOptions& options);

inline constexpr std::string_view kArchiveVolume = "muster-code-archive";
inline constexpr std::string_view kUnpackedVolume = "muster-code";
inline constexpr std::string_view kClaimFolderVolume = "muster-folder-";  // and its index
inline constexpr std::string_view kCodeVolume = "code-sync";
inline constexpr std::string_view kSharedMemoryVolume = "dshm";
inline constexpr std::string_view kHostDirVolume = "training-data-";  // and its index
inline constexpr std::string_view kLocalLogsMount = "/output/training_logs";

}  // namespace arena
