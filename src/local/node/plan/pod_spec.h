// What the node agent tells a pod's shim, and what the shim reports back. Both travel as JSON: the
// specification through a pipe (it may hold secrets, so it never touches the disk), the report as
// `status.json` in the pod's directory, replaced atomically.
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

// What Linux takes.
inline constexpr size_t kMaxHostName = 63;

using EnvList = std::vector<std::pair<std::string, std::string>>;  // later entries win

// File mode mask of a job's programs, octal, on job and pods: the submitter's.
inline constexpr std::string_view kUmaskAnnotation = "muster.dev/umask";
// Of pods whose submitter's is not known, the usual one: the daemon's own, 0077, would hide what
// they write from the submitter's colleagues.
inline constexpr mode_t kUsualUmask = 0022;
// "0027", octal; nullopt when it is not one.
std::optional<mode_t> ParseUmask(std::string_view text);

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
  // For the reader of an error about a program that was not found: its image is not used here. ""
  // when that is not the reason.
  std::string image_hint;
  // What stands in for the program with a warm start (warm_command.h); "" when it is executed.
  std::string warm_python;
  process::Rights rights{};
  std::optional<int64_t> memory_limit{};  // bytes
  std::optional<int64_t> cpu_limit_milli{};
  std::string cgroup;  // in the shim: the one that it starts in; "" is the shim's own
  // The container of podman that `argv` starts; "" when it is the program itself.
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
  mode_t umask = kUsualUmask;  // of its programs
  std::vector<ContainerSpec> init_containers;
  std::vector<ContainerSpec> containers;
  std::vector<Mount> mounts;
  bool is_root_read_only = false;  // but for the mounts
  // Where limited containers have cgroups (cgroup.h); "" when there can be none.
  std::string cgroup_mount;
  bool is_in_user_scope = false;
  // Names that resolve to an address in the pod: {"job-master-0", "127.0.0.1"}.
  std::vector<std::pair<std::string, std::string>> hosts;
  std::chrono::seconds termination_grace{30};
  // Where the job's code is synchronised once for all its pods; "" when nothing is synchronised.
  std::string job_code_directory;
  uint64_t log_limit = 0;  // bytes of each container's log (LogWriter); 0 is no limit
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

// A session that a container began: its process's pid, and when that started.
struct PodSession {
  pid_t id = 0;
  uint64_t start_ticks = 0;  // as process::ProcessStat has it
};

struct ContainerReport {
  std::string name;
  int restart_count = 0;
  ContainerState state;
  std::optional<ContainerState> last_termination;
  PodSession session{};  // of its last run
  // "log truncated: ...": what the latest run's log lacks and does not say itself; "" of nothing.
  std::string log_loss = {};
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
