// The specification that the node agent gives to a pod's shim, and the report that the shim
// returns, both as JSON. The specification is passed through a pipe, because it may contain secrets
// that must not reach the disk; the report is `status.json` in the pod's directory, replaced
// atomically.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "process/rights.h"
#include "text/json.h"

namespace local::node {

// Linux's limit.
inline constexpr size_t kMaxHostName = 63;

using EnvList = std::vector<std::pair<std::string, std::string>>;  // later entries win

// Used when the submitter's umask is not known: the daemon's own, 0077, would hide the programs'
// files from the submitter's colleagues.
inline constexpr mode_t kUsualUmask = 0022;

// A host directory or file that the pod sees at `target`, or a tmpfs of the pod's own.
struct Mount {
  std::string source;  // absolute, exists; for a tmpfs only a name
  std::string target;  // absolute
  bool read_only = false;
  // A tmpfs of at most this many bytes; 0: the kernel's default, half of the machine's memory.
  std::optional<int64_t> memory{};
};

struct ContainerSpec {
  enum class Kind {
    kProgram,
    kGitSync,  // built in: clones like git-sync, configured by GIT_SYNC_* variables (code_sync.h)
    kRsync,    // built in: argv is the rsync command line, destination /code
  };
  std::string name;
  Kind kind = Kind::kProgram;
  std::vector<std::string> argv;  // command then args, $(VAR) already expanded
  std::string cwd;
  EnvList env;  // complete: no variable is inherited
  bool tty = false;
  // Added to the error when the program is not found: its image is not used here. "" when that is
  // not the reason.
  std::string image_hint;
  // The program that replaces this one for a warm start (warm_command.h); "": executed as usual.
  std::string warm_python;
  process::Rights rights{};
  std::optional<int64_t> memory_limit{};  // bytes
  std::optional<int64_t> cpu_limit_milli{};
  std::string cgroup;  // set in the shim: the cgroup in which it starts; "": the shim's own
  // Name of the podman container that `argv` starts; "": it starts the program itself.
  std::string podman_name;

  bool HasLimits() const { return memory_limit || cpu_limit_milli; }
  bool IsConfined() const { return rights.AreReduced() || HasLimits(); }
};

enum class PodRestartPolicy { kAlways, kOnFailure, kNever };

struct PodSpec {
  std::string uid;
  std::string namespace_name;
  std::string name;
  std::string directory;  // the pod's own, absolute, mode 0700
  std::string hostname;
  PodRestartPolicy restart_policy = PodRestartPolicy::kAlways;
  mode_t umask = kUsualUmask;  // of the pod's programs
  std::vector<ContainerSpec> init_containers;
  std::vector<ContainerSpec> containers;
  std::vector<Mount> mounts;
  bool is_root_read_only = false;  // except for its mounts
  // Where limited containers get cgroups (cgroup.h); "": they cannot have any.
  std::string cgroup_mount;
  bool is_in_user_scope = false;
  // Host names with their addresses in the pod: {"job-master-0", "127.0.0.1"}.
  std::vector<std::pair<std::string, std::string>> hosts;
  std::chrono::seconds termination_grace{30};
  // Where the job's code is synchronised once for all its pods; "": there is none.
  std::string job_code_directory;
  std::string witness_root;  // where the kernel's log is looked for (witness/machine.h)
  uint64_t log_limit = 0;    // bytes of each container's log (LogWriter); 0: no limit
  // The first delay before a container is restarted; doubles up to five minutes (tests shorten it).
  std::chrono::milliseconds restart_backoff{10'000};
};

struct ContainerState {
  enum class Phase { kWaiting, kRunning, kTerminated };
  Phase phase = Phase::kWaiting;
  std::string reason;   // PodInitializing, CrashLoopBackOff, Completed, Error, OOMKilled, ...
  std::string message;  // output of git, the exec error, or the last lines of a failed program
  int exit_code = 0;    // 128 + signal when killed by one
  int signal = 0;
  std::optional<base::Time> started_at;
  std::optional<base::Time> finished_at;
};

// A session that a container created: the pid of its leader, and the start time of that process.
struct PodSession {
  pid_t id = 0;
  uint64_t start_ticks = 0;  // as process::ProcessStat has it
};

struct ContainerReport {
  std::string name;
  int restart_count = 0;
  ContainerState state;
  std::optional<ContainerState> last_termination;
  PodSession session{};  // of its latest run
  // "log truncated: ...": a loss in the latest run's log that the log does not contain; "": none.
  std::string log_loss = {};
};

struct PodReport {
  std::string uid;
  std::vector<ContainerReport> init_containers;
  std::vector<ContainerReport> containers;
  // Every container has ended for good (or an init container has failed for good): the phase is
  // final.
  bool is_finished = false;
  bool has_succeeded = false;
  std::string reason;  // of the pod: ShimLost, NamespaceForbidden, ...; normally ""
  std::string message;
};

text::Json ToJson(const PodSpec& spec);
base::Result<PodSpec> PodSpecFromJson(const text::Json& json);
text::Json ToJson(const PodReport& report);
base::Result<PodReport> PodReportFromJson(const text::Json& json);

}  // namespace local::node
