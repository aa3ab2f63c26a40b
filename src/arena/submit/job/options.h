// The flags of `submit pytorchjob` (compat/arena.md 1.4), their checks, and the resulting values.
// Pure except for CheckSubmit, which looks at --config-file's files.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arena/folder/local_code.h"
#include "base/environment.h"
#include "base/result.h"
#include "cli/flags.h"

namespace arena {

// As the user typed them.
struct SubmitFlags {
  std::string name, image, master_image, worker_image, working_dir, priority, image_pull_policy;
  std::string shell, scheduler, model_name, model_source, clean_task_policy, restart_policy;
  std::string cpu, memory, share_memory, elastic;
  std::string nproc_per_node, tensorboard_image, logdir, sync_mode, sync_source, sync_image;
  std::string git_branch, git_revision, git_credentials, git_ssh_key, git_known_hosts;
  std::string dry_run, output;
  std::string on_stall = "report";
  std::vector<std::string> devices, env, env_files, secret_env, data, data_dirs, annotations,
      labels;
  std::vector<std::string> tolerations, selectors, config_files, image_pull_secrets, wait_for;
  int64_t gpus = 0, workers = 1, retry = 0, git_depth = 0;
  int64_t stall_after = 3;  // seconds
  int64_t grace = 0;        // seconds between SIGTERM and SIGKILL; 0 for Kubernetes' 30. `run` only
  bool rdma = false, gang = false, queue = false, tensorboard = false, wait = false;
  bool stop_on_nan = false;
  bool follow = false, host_network = false, host_ipc = false, host_pid = false;
  std::chrono::nanoseconds running_timeout{0}, ttl_after_finished{0};
  LocalCodeFlags code;  // for --sync-mode=local, and `run`
  // Whether flags were given whose default differs from the same value typed.
  bool are_workers_given = false, is_output_given = false, is_on_stall_given = false;
  // Whether values that are not key=value and the like are ignored with a warning, as Arena ignores
  // them, instead of being refused.
  bool ignores_malformed = false;

  void Declare(cli::FlagSet& set);
  // `was_given` takes a flag's name. Call it after parsing.
  void NoteGiven(const std::function<bool(std::string_view)>& was_given);
};

using Pairs = std::vector<std::pair<std::string, std::string>>;  // in the order they were given

struct Toleration {
  std::string key, value, effect, op;  // only `op` set: tolerates everything
};

// A value of --data: `claim:/path`, `claim:/path:ro`.
struct DataMount {
  std::string claim, path;
  bool read_only = false;

  auto operator<=>(const DataMount&) const = default;
};

// A folder of a claim, mounted at a path of the replicas.
struct ClaimFolder {
  std::string claim, folder, path;
  bool read_only = false;
};

// A value of --data-dir: `/host`, `/host:/container`, either with `:ro`.
struct HostDir {
  std::string host_path, container_path;
  bool read_only = false;
};

struct ConfigFile {
  std::string host_path, container_path;
  std::string content;
};

// A value of --env-from-secret: `NAME=SECRET:KEY`, or `SECRET` for all of its keys.
struct SecretEnv {
  std::string name, secret, key;  // `name` and `key` are empty for all keys
};

struct Elastic {
  int64_t min = 0, max = 0;
};

// What only the container that fetches the code may see; kept in a Secret of the job.
struct CodeSecrets {
  std::optional<std::string>
      password;                        // for git or rsync, from the environment or the source's URL
  std::optional<std::string> ssh_key;  // the content of --git-ssh-key
  std::optional<std::string> known_hosts;  // the content of --git-known-hosts

  bool empty() const { return !password && !ssh_key && !known_hosts; }
};

// Checked values.
struct SubmitOptions {
  SubmitFlags flags;
  std::string command;
  std::map<std::string, std::string> env;  // without passwords
  std::vector<SecretEnv> secret_env;
  // The variables that the job inherits from its caller, kept in a Secret of the job. Every other
  // source of a variable overrides them. `run` only.
  std::map<std::string, std::string> callers_env;
  // Variables like those of `env` whose values were not typed: of --env-file, and of --env NAME.
  // They are kept in the same Secret, and so in no object that others may read.
  std::map<std::string, std::string> private_env;
  // A tar.gz archive of the code for `code_folder`, which travels in ConfigMaps of the job. "" for
  // none.
  std::string code_archive, code_folder;
  std::map<std::string, std::string> code_env;  // only for the container that fetches the code
  std::map<std::string, std::string> labels, annotations, selectors;
  std::vector<DataMount> data;  // sorted by claim
  std::vector<HostDir> data_dirs;
  std::vector<ClaimFolder> claim_folders;  // `run --run-volume` only
  Pairs devices;
  std::vector<Toleration> tolerations;
  std::vector<ConfigFile> config_files;
  std::optional<Elastic> elastic;  // if set: no master, and `flags.workers` is the initial number
  CodeSecrets code_secrets;
  // --sync-source as typed, if it is a path on this machine; flags.sync_source is then absolute.
  std::string local_source;
  text::Json note;  // a RunNote, from which a job on another cluster can be run again
  std::vector<std::string> warnings;  // for the user, one line each

  bool HasEnvironmentSecret() const { return !callers_env.empty() || !private_env.empty(); }
  // Whether an init container fetches the code by git or rsync.
  bool FetchesCode() const { return flags.sync_mode == "git" || flags.sync_mode == "rsync"; }
};

// The checks of compat/arena.md 2.2 in its order, except the ones that need the cluster (priority
// class, image, name already taken). Errors have its texts and prefix.
base::Result<SubmitOptions> CheckSubmit(const SubmitFlags& flags,
                                        const std::vector<std::string>& command,
                                        const base::Environment& environment);

// The part of CheckSubmit for the code: --sync-*, --git-* and git-sync's variables. Moves secrets
// out of the environment and the source, so that no later code sees them there.
base::Status CheckCode(SubmitOptions& options, const base::Environment& environment);

// The part of CheckSubmit for mounts: no two at the same path, which Kubernetes refuses; none at
// the root, none with "..".
base::Status CheckMounts(const SubmitOptions& options);

// The part of CheckSubmit for torchrun: --nproc-per-node, which a variable may set too, and the
// variables that do not reach it.
base::Status CheckTorchrun(SubmitOptions& options);

// Where replicas find the code of --sync-mode=local: WORKING-DIR/code/NAME, with the name of the
// tree's folder.
std::string LocalCodeFolder(const SubmitFlags& flags, const snapshot::Folder& folder);

// The last part of a git URL before the first ".git": https://h/o/r.git -> r, /home/r/.git -> r.
std::string GitProject(std::string_view source);

// Removes the password from `https://user:password@host/path` and returns it decoded; nullopt if
// there is none.
std::optional<std::string> TakePasswordOfUrl(std::string& url);

// Parts of CheckSubmit, declared for its tests.
base::Status CheckJobName(std::string_view name);

// The word behind --dry-run, which may be the command that was meant to be run.
base::Status CheckDryRun(const SubmitFlags& flags);
base::Result<std::vector<DataMount>> ParseData(const std::vector<std::string>& values);
base::Result<std::vector<HostDir>> ParseDataDirs(const std::vector<std::string>& values);
base::Result<Pairs> ParseDevices(const std::vector<std::string>& values);
base::Result<std::vector<Toleration>> ParseTolerations(const std::vector<std::string>& values);
base::Result<std::vector<ConfigFile>> ReadConfigFiles(const std::vector<std::string>& values,
                                                      const base::Environment& environment);
// Takes away the values that Arena ignores (compat/arena.md 1.4): those of list flags without a `=`
// (but not variables that the caller has), tolerations of another form, a source of code without a
// mode. Returns a warning for each.
std::vector<std::string> TakeMalformed(SubmitFlags& flags, const base::Environment& environment);
// Parses `K=V` values; the last of equal keys wins. The error names the flag.
base::Result<std::map<std::string, std::string>> ParsePairs(std::string_view flag,
                                                            const std::vector<std::string>& values);
// The same for --label, --selector and --annotation: with keys and values that Kubernetes accepts.
base::Result<std::map<std::string, std::string>> ParseLabels(
    std::string_view flag, const std::vector<std::string>& values);
// Refuses the labels by which jobs are found.
base::Result<std::map<std::string, std::string>> ParseJobLabels(
    const std::vector<std::string>& values);
base::Result<std::map<std::string, std::string>> ParseAnnotations(
    const std::vector<std::string>& values);
base::Result<std::map<std::string, std::string>> ParseEnv(const std::vector<std::string>& values);
base::Result<std::vector<SecretEnv>> ParseSecretEnv(const std::vector<std::string>& values);
base::Result<Elastic> ParseElastic(std::string_view value);

}  // namespace arena
