// What the node agent tells a pod's shim, and what the shim reports back. Both travel as JSON: the
// specification through a pipe (it may hold secrets, so it never touches the disk), the report as
// `status.json` in the pod's directory, replaced atomically.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "text/json.h"

namespace local::node {

// What Linux takes.
inline constexpr size_t kMaxHostName = 63;

using EnvList = std::vector<std::pair<std::string, std::string>>;  // later entries win

// A host directory or file shown at `target` inside the pod; or memory, the pod's own.
struct Mount {
  std::string source;  // absolute, exists; of memory only a name
  std::string target;  // absolute
  bool read_only = false;
  // A tmpfs of at most that many bytes; 0: the kernel's default, half of the machine's memory.
  std::optional<int64_t> memory{};
};

struct ContainerSpec {
  enum class Kind {
    kProgram,
    kGitSync,  // built in: clones as git-sync would by its GIT_SYNC_* variables (code_sync.h)
    kRsync,    // built in: argv is the rsync command line, destination /code
  };
  std::string name;
  Kind kind = Kind::kProgram;
  std::vector<std::string> argv;  // command then args, $(VAR) already expanded
  std::string cwd;
  EnvList env;  // complete: nothing is inherited
  bool tty = false;
  // For who reads of a program that was not found: its image is none here. "" when that is no
  // reason.
  std::string image_hint;
  // What stands in for the program with a warm start (warm_command.h); "" when it is executed.
  std::string warm_python;
  // The container of podman that `argv` starts; "" when it is the program itself.
  std::string podman_name;
};

enum class PodRestartPolicy { kAlways, kOnFailure, kNever };

struct PodSpec {
  std::string uid;
  std::string namespace_name;
  std::string name;
  std::string directory;  // the pod's own, absolute, mode 0700
  std::string hostname;
  PodRestartPolicy restart_policy = PodRestartPolicy::kAlways;
  std::vector<ContainerSpec> init_containers;
  std::vector<ContainerSpec> containers;
  std::vector<Mount> mounts;
  // Names that resolve to an address in the pod: {"job-master-0", "127.0.0.1"}.
  std::vector<std::pair<std::string, std::string>> hosts;
  std::chrono::seconds termination_grace{30};
  // Where the job's code is synchronised once for all its pods; "" when nothing is synchronised.
  std::string job_code_directory;
  // First wait before a container is restarted, doubling to five minutes (tests shorten it).
  std::chrono::milliseconds restart_backoff{10'000};
};

struct ContainerState {
  enum class Phase { kWaiting, kRunning, kTerminated };
  Phase phase = Phase::kWaiting;
  std::string reason;   // PodInitializing, CrashLoopBackOff, Completed, Error, OOMKilled, ...
  std::string message;  // git's own words, the exec error, the last lines of a failed program
  int exit_code = 0;    // 128 + signal when killed by one
  int signal = 0;
  std::optional<base::Time> started_at;
  std::optional<base::Time> finished_at;
};

struct ContainerReport {
  std::string name;
  int restart_count = 0;
  ContainerState state;
  std::optional<ContainerState> last_termination;
};

struct PodReport {
  std::string uid;
  std::vector<ContainerReport> init_containers;
  std::vector<ContainerReport> containers;
  // Every container ended for good (or an init container failed for good): phase is decided.
  bool is_finished = false;
  bool has_succeeded = false;
  std::string reason;  // pod-level: ShimLost, NamespaceForbidden, ...; "" normally
  std::string message;
};

text::Json ToJson(const PodSpec& spec);
base::Result<PodSpec> PodSpecFromJson(const text::Json& json);
text::Json ToJson(const PodReport& report);
base::Result<PodReport> PodReportFromJson(const text::Json& json);

}  // namespace local::node
