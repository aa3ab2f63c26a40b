// A pod's volumes as directories and files of the host, and where the pod sees them. Pure: files to
// be created or checked are only listed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "local/node/plan/environment.h"
#include "local/node/plan/objects.h"
#include "local/node/pod/pod_spec.h"
#include "text/json.h"

namespace local::node {

// Where jobs without a volume write TensorBoard's events on each node, under Arena (compat/arena.md
// 3.3). Here the folder is kept with the job, so that users need no directory in /, and is deleted
// with it.
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
  std::vector<HostPath> host_paths;      // to be checked first
  std::vector<std::string> directories;  // to be created, in order
  std::vector<File> files;               // to be written, after creating their directories
  std::vector<Mount> mounts;             // parents before what is in them
  // The mounts of the container that fetches the code, beside the code: it runs outside of the
  // pod's view and uses `source` instead of `target`.
  std::vector<Mount> code_mounts;
};

// `job_directory`: of the pod's job, "" without one. `code_volume`: the volume that the code sync
// fills; it is `<directory>/code`. The other mounts of `code_container` are listed separately. Both
// are "" without a code sync. `variables` by container: for subPathExpr.
OrNotReady<VolumePlan> PlanVolumes(const PodFacts& facts, const PodObjects& objects,
                                   const std::string& directory, const std::string& job_directory,
                                   std::string_view code_volume, std::string_view code_container,
                                   const std::map<std::string, EnvList>& variables);

// An absolute path without a trailing slash or empty components; nullopt when a component is "..".
std::optional<std::string> CleanPath(std::string_view path);

}  // namespace local::node
