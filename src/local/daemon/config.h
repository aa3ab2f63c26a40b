// $XDG_CONFIG_HOME/muster/config.yaml:
//
//   cluster: local            # which cluster commands talk to when nothing else says so
//   local:
//     python: /usr/bin/python3  # interpreter of the pods
//     gpus: auto                # strict, optional or auto
//     redirect_launch: true     # python -m torch.distributed.run in pods is muster-launch
//     images: host              # or podman: pods run in their images
//     log_limit: 100M           # of each rank's log the newest are kept; 0 keeps all
//     keep_days: 90             # jobs that ended longer ago are removed, with their logs; 0: never
//     keep_jobs: 10000          # nor are more ended jobs kept; 0 is no limit
//     keep_size: 20G            # nor more than this of their logs and code; 0 is no limit
//     warm: false               # torchrun in pods is muster-launch --warm; python a.py forks too
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/result.h"

namespace local::daemon {

enum class GpuMode { kAuto, kStrict, kOptional };

// How long jobs that ended are kept; 0 is no limit.
struct Keep {
  int64_t days = 90;
  int64_t jobs = 10'000;
  int64_t bytes = 20'000'000'000;
};

struct Config {
  std::string path;                    // where it was or would be read
  std::optional<std::string> cluster;  // "local" or a kubeconfig context
  std::optional<std::string> python;   // absolute
  GpuMode gpus = GpuMode::kAuto;
  bool redirects_launch = true;
  bool has_podman = false;  // local.images: podman
  bool is_warm = false;
  int64_t log_limit = 100'000'000;  // bytes; 0 is no limit
  Keep keep;
};

// The file's settings, the defaults where there is no file. An unknown key or a bad value is
// kInvalidArgument naming file and key.
base::Result<Config> LoadConfig(const base::Environment& environment);

// "finished jobs for 90 days, 10000 of them, 20G in all; the newest 100M of each rank's log"
std::string DescribeKeep(const Config& config);

}  // namespace local::daemon
