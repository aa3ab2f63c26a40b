// A pod's volumes, as directories and files of the host and where the pod sees them. Pure: what is
// to be made or to be there is only named.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "local/node/agent/objects.h"
#include "local/node/plan/environment.h"
#include "local/node/plan/pod_spec.h"
#include "text/json.h"

namespace local::node {

// Where Arena lets jobs without a volume write TensorBoard's events, on each node
// (compat/arena.md 3.3). Here it lies with the job, so that no user needs a directory in /, and
// what is in it goes with the job.
inline constexpr std::string_view kArenaLogs = "/arena_logs/";

struct VolumePlan {
  struct File {
    std::string path;
    std::string content;
    unsigned mode = 0600;
  };
  struct HostPath {
    std::string path;
    enum class Need { kExists, kDirectory, kFile, kMakeDirectory, kMakeFile };
    Need need = Need::kExists;
    std::string owner;  // for messages: `hostPath volume "data"`
  };
  std::vector<HostPath> host_paths;      // to be looked at first
  std::vector<std::string> directories;  // to be made, in order
  std::vector<File> files;               // to be written, their directories made
  std::vector<Mount> mounts;             // parents before what is in them
  // What the container that fetches the code mounts beside the code: no pod's view has it, it is
  // at `source` instead of `target`.
  std::vector<Mount> code_mounts;
};

// `job_directory`: of the job that the pod belongs to, "" of none.
// `code_volume`: the volume that the code sync fills; it is `<directory>/code`. `code_container`'s
// own mounts are apart. Both "" when there is none. `variables` by container: for subPathExpr.
OrNotReady<VolumePlan> PlanVolumes(const PodFacts& facts, const PodObjects& objects,
                                   const std::string& directory, const std::string& job_directory,
                                   std::string_view code_volume, std::string_view code_container,
                                   const std::map<std::string, EnvList>& variables);

// Without a trailing slash or empty steps, absolute; nullopt when a step is "..".
std::optional<std::string> CleanPath(std::string_view path);

}  // namespace local::node
