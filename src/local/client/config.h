// $XDG_CONFIG_HOME/muster/config.yaml; its keys are Settings().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace local::daemon {

enum class GpuMode { kAuto, kStrict, kOptional };

// How long finished jobs are kept; 0: no limit.
struct Keep {
  int64_t days = 90;
  int64_t jobs = 10'000;
  int64_t bytes = 20'000'000'000;
};

struct Config {
  std::string path;                    // where it was read, or would be
  std::optional<std::string> cluster;  // "local" or a kubeconfig context
  // The targets to notify for jobs that name none, and the events (end, fail, hang, start).
  std::vector<std::string> notify;
  std::string notify_on = "end";
  std::optional<std::string> python;  // absolute
  GpuMode gpus = GpuMode::kAuto;
  bool redirects_launch = true;
  bool has_podman = false;  // local.images: podman
  bool is_warm = false;
  bool takes_status_posts = true;   // local.progress
  int64_t log_limit = 100'000'000;  // bytes; 0: no limit
  Keep keep;
};

struct Setting {
  std::string_view key;      // "local.python"
  std::string_view values;   // permitted values
  std::string_view usual;    // the default
  std::string_view meaning;  // begins in lower case, without a full stop
};

// Every key of the file, in the order of the manual.
std::span<const Setting> Settings();

// The file's settings; the defaults when there is no file. For an unknown key or a bad value,
// kInvalidArgument naming the file and the key.
base::Result<Config> LoadConfig(const base::Environment& environment);

// "finished jobs for 90 days, 10000 of them, 20G in all; the newest 100M of each rank's log"
std::string DescribeKeep(const Config& config);

}  // namespace local::daemon
