// $XDG_CONFIG_HOME/muster/config.yaml:
//
//   cluster: local            # which cluster commands talk to when nothing else says so
//   local:
//     python: /usr/bin/python3  # interpreter of the pods
//     gpus: auto                # strict, optional or auto
//     redirect_launch: true     # python -m torch.distributed.run in pods is muster-launch
//     images: host              # or podman: pods run in their images
//     warm: false               # torchrun in pods is muster-launch --warm; python a.py forks too
#pragma once

#include <optional>
#include <string>

#include "base/environment.h"
#include "base/result.h"

namespace local::daemon {

enum class GpuMode { kAuto, kStrict, kOptional };

struct Config {
  std::string path;                    // where it was or would be read
  std::optional<std::string> cluster;  // "local" or a kubeconfig context
  std::optional<std::string> python;   // absolute
  GpuMode gpus = GpuMode::kAuto;
  bool redirects_launch = true;
  bool has_podman = false;  // local.images: podman
  bool is_warm = false;
};

// The file's settings, the defaults where there is no file. An unknown key or a bad value is
// kInvalidArgument naming file and key.
base::Result<Config> LoadConfig(const base::Environment& environment);

}  // namespace local::daemon
