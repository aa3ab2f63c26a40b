// What `submit pytorchjob` was told: the flags of spec/arena.md 1.4, their checks, and the values
// that come of them. Pure but for CheckSubmit, which looks at --config-file's files.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "cli/flags.h"

namespace arena {

// As typed.
struct SubmitFlags {
  std::string name, image, worker_image, working_dir, priority, image_pull_policy, shell, scheduler;
  std::string model_name, model_source, clean_task_policy, cpu, memory, share_memory;
  std::string nproc_per_node, tensorboard_image, logdir, sync_mode, sync_source, sync_image;
  std::string dry_run, output;
  std::vector<std::string> devices, env, data, data_dirs, annotations, labels, tolerations;
  std::vector<std::string> selectors, config_files, image_pull_secrets;
  int64_t gpus = 0, workers = 1, retry = 0;
  bool rdma = false, gang = false, queue = false, tensorboard = false;
  bool host_network = false, host_ipc = false, host_pid = false;
  std::chrono::nanoseconds running_timeout{0}, ttl_after_finished{0};

  void Declare(cli::FlagSet& set);
};

using Pairs = std::vector<std::pair<std::string, std::string>>;  // in the order they were given

struct Toleration {
  std::string key, value, effect, op;  // all but `op` empty: tolerates everything
};

// Of --data: `claim:/path`, `claim:/path:ro`.
struct DataMount {
  std::string claim, path;
  bool read_only = false;

  auto operator<=>(const DataMount&) const = default;
};

// Of --data-dir: `/host`, `/host:/container`, either with `:ro`.
struct HostDir {
  std::string host_path, container_path;
  bool read_only = false;
};

struct ConfigFile {
  std::string host_path, container_path;
  std::string content;
};

// Checked values.
struct SubmitOptions {
  SubmitFlags flags;
  std::string command;
  std::map<std::string, std::string> env;  // without the password
  std::map<std::string, std::string> labels, annotations, selectors;
  std::vector<DataMount> data;  // sorted by claim
  std::vector<HostDir> data_dirs;
  Pairs devices;
  std::vector<Toleration> tolerations;
  std::vector<ConfigFile> config_files;
  std::optional<std::string> git_password;  // of GIT_SYNC_PASSWORD or of the source's URL
  std::vector<std::string> warnings;        // for the user, one line each
};

// The checks of spec/arena.md 2.2 in its order, but for those that need the cluster (priority
// class, image, name already taken). Errors have its texts, with its prefix.
base::Result<SubmitOptions> CheckSubmit(const SubmitFlags& flags,
                                        const std::vector<std::string>& command,
                                        const base::Environment& environment);

// The last part of a git URL before the first ".git": https://h/o/r.git -> r.
std::string GitProject(std::string_view source);

// `https://user:password@host/path` without the password, which is returned decoded; nothing when
// there is none.
std::optional<std::string> TakePasswordOfUrl(std::string& url);

// Of the parts of CheckSubmit, for its tests.
base::Status CheckJobName(std::string_view name);
base::Result<std::vector<DataMount>> ParseData(const std::vector<std::string>& values);
base::Result<std::vector<HostDir>> ParseDataDirs(const std::vector<std::string>& values);
base::Result<Pairs> ParseDevices(const std::vector<std::string>& values);
base::Result<std::vector<Toleration>> ParseTolerations(const std::vector<std::string>& values);
base::Result<std::vector<ConfigFile>> ReadConfigFiles(const std::vector<std::string>& values,
                                                      const base::Environment& environment);
// `K=V` each; the last of equal keys wins. The error names the flag.
base::Result<std::map<std::string, std::string>> ParsePairs(std::string_view flag,
                                                            const std::vector<std::string>& values);

}  // namespace arena
