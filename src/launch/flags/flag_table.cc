#include "api/on_stall.h"
#include "base/strings.h"
#include "launch/flags/flags.h"

namespace launch {
namespace {

constexpr std::string_view kJob = "How many processes, and where";
constexpr std::string_view kMeeting = "How the nodes find each other";
constexpr std::string_view kProgram = "What is run";
constexpr std::string_view kFailure = "Failures and the end";
constexpr std::string_view kLogs = "Output and logs";
constexpr std::string_view kOurs = "What torchrun does not have";

std::vector<FlagSpec> JobFlags() {
  return {
      {.name = "nnodes",
       .value = "N|MIN:MAX",
       .otherwise = "1:1",
       .group = kJob,
       .help = "nodes; a range makes the job elastic"},
      {.name = "nproc-per-node",
       .value = "N|auto|cpu|gpu",
       .otherwise = "1",
       .group = kJob,
       .help = "processes on this node; auto: one for each GPU, else each CPU"},
      {.name = "node-rank",
       .kind = FlagKind::kInteger,
       .value = "N",
       .otherwise = "0",
       .group = kJob,
       .help = "rank of this node"},
      {.name = "local-addr",
       .value = "ADDRESS",
       .group = kJob,
       .help = "address of this node that the others can reach"},
      {.name = "numa-binding",
       .value = "HOW",
       .choices = {"none", "node", "socket", "exclusive", "core-complex"},
       .has_variable = false,
       .group = kJob,
       .help = "pin each process to the CPUs near its GPU"},
      {.name = "virtual-local-rank",
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .group = kJob,
       .help = "each process sees LOCAL_RANK=0 and only its own GPU"},
  };
}

std::vector<FlagSpec> MeetingFlags() {
  return {
      {.name = "standalone",
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .group = kMeeting,
       .help = "one node, with a free port and a random id"},
      {.name = "rdzv-backend",
       .value = "static|c10d",
       .otherwise = "static",
       .group = kMeeting,
       .help = "static: ranks from --node-rank; c10d: the nodes agree"},
      {.name = "rdzv-endpoint",
       .value = "HOST[:PORT]",
       .group = kMeeting,
       .help = "where the nodes meet; c10d: port 29400 unless given, 0 is a free one"},
      {.name = "rdzv-id",
       .value = "ID",
       .otherwise = "none",
       .group = kMeeting,
       .help = "name of the job; nodes with another name are refused"},
      {.name = "rdzv-conf",
       .value = "K=V,K=V",
       .group = kMeeting,
       .help = "join_timeout, last_call_timeout, timeout, is_host, token ..."},
      {.name = "master-addr",
       .value = "HOST",
       .otherwise = "127.0.0.1",
       .group = kMeeting,
       .help = "address of node 0 (static)"},
      {.name = "master-port",
       .kind = FlagKind::kInteger,
       .value = "PORT",
       .group = kMeeting,
       .help = "port on node 0 (static); 29500 with several nodes"},
  };
}

std::vector<FlagSpec> ProgramFlags() {
  return {
      {.name = "module",
       .shorthand = 'm',
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .group = kProgram,
       .help = "the script is a module, as in python -m"},
      {.name = "no-python",
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .group = kProgram,
       .help = "the script is a program, found on PATH"},
      {.name = "run-path",
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .group = kProgram,
       .help = "run the script with runpy.run_path"},
      {.name = "role",
       .value = "NAME",
       .otherwise = "default",
       .group = kProgram,
       .help = "ROLE_NAME of the workers, and the prefix of their lines"},
      {.name = "start-method",
       .value = "METHOD",
       .otherwise = "spawn",
       .choices = {"spawn", "fork", "forkserver"},
       .group = kProgram,
       .help = "accepted and ignored: scripts are always executed"},
      {.name = "use-env",
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .has_variable = false,
       .group = kProgram,
       .help = "accepted: LOCAL_RANK is always in the environment"},
  };
}

std::vector<FlagSpec> FailureFlags() {
  return {
      {.name = "max-restarts",
       .kind = FlagKind::kInteger,
       .value = "N",
       .otherwise = "0",
       .group = kFailure,
       .help = "restarts of all workers before the job fails"},
      {.name = "monitor-interval",
       .kind = FlagKind::kReal,
       .value = "S",
       .otherwise = "0.1",
       .group = kFailure,
       .help = "accepted and ignored: the end of a worker is known at once"},
      {.name = "shutdown-timeout",
       .kind = FlagKind::kInteger,
       .value = "S",
       .second_variable = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT",
       .group = kFailure,
       .help = "seconds from the signal to SIGKILL; by default 27 (in a pod almost its grace "
               "period), or\n5 after a failure"},
      {.name = "signals-to-handle",
       .value = "A,B",
       .otherwise = "SIGTERM,SIGINT,SIGHUP,SIGQUIT",
       .group = kFailure,
       .help = "signals that end the job; SIGUSR1 and SIGUSR2 are only passed to the ranks"},
      {.name = "event-log-handler",
       .value = "NAME",
       .otherwise = "null",
       .group = kFailure,
       .help = "null or console"},
  };
}

std::vector<FlagSpec> LogFlags() {
  return {
      {.name = "log-dir",
       .value = "DIR",
       .group = kLogs,
       .help = "folder of the workers' logs; /dev/null keeps none"},
      {.name = "redirects",
       .shorthand = 'r',
       .value = "N|RANK:N,...",
       .otherwise = "0",
       .group = kLogs,
       .help = "write to files: 1 stdout, 2 stderr, 3 both; or a map by local rank"},
      {.name = "tee",
       .shorthand = 't',
       .value = "N|RANK:N,...",
       .otherwise = "0",
       .group = kLogs,
       .help = "write to files and, with a prefix, to the console"},
      {.name = "log-line-prefix-template",
       .value = "TEXT",
       .second_variable = "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE",
       .group = kLogs,
       .help = "prefix of --tee: ${role_name} ${local_rank} ${rank} ${hostname}"},
      {.name = "local-ranks-filter",
       .value = "A,B",
       .group = kLogs,
       .help = "only these local ranks reach the console"},
      {.name = "duplicate-stdout-filters",
       .kind = FlagKind::kList,
       .value = "TEXT,...",
       .group = kLogs,
       .help = "matching lines also go to filtered_stdout.log"},
      {.name = "duplicate-stderr-filters",
       .kind = FlagKind::kList,
       .value = "TEXT,...",
       .group = kLogs,
       .help = "matching lines also go to filtered_stderr.log"},
      {.name = "logs-specs",
       .value = "NAME",
       .otherwise = "default",
       .has_variable = false,
       .group = kLogs,
       .help = "only default: plug-ins would be Python"},
  };
}

std::vector<FlagSpec> OwnFlags() {
  return {
      {.name = "python",
       .value = "PATH",
       .second_variable = "PYTHON_EXEC",
       .is_ours = true,
       .group = kOurs,
       .help = "the interpreter; else the active environment's, else python3"},
      {.name = "warm",
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .is_ours = true,
       .group = kOurs,
       .help = "fork each rank from an interpreter that has imported torch"},
      {.name = "preload",
       .value = "MOD,...",
       .is_ours = true,
       .group = kOurs,
       .help = "modules that it imports besides torch"},
      {.name = "warm-idle",
       .kind = FlagKind::kInteger,
       .value = "S",
       .otherwise = "600",
       .is_ours = true,
       .group = kOurs,
       .help = "seconds after which an idle one exits"},
      {.name = "warm-kept",
       .kind = FlagKind::kInteger,
       .value = "N",
       .otherwise = "4",
       .is_ours = true,
       .group = kOurs,
       .help = "how many of yours stay idle; beyond that the oldest exits"},
      {.name = "no-status",
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .is_ours = true,
       .group = kOurs,
       .help = "do not show the ranks in a line at the bottom of the terminal"},
      {.name = "progress",
       .value = "on|off",
       .otherwise = "on",
       .choices = {"on", "off"},
       .is_ours = true,
       .group = kOurs,
       .help = "ranks that report to Kubeflow Trainer report to the launcher"},
      {.name = "on-stall",
       .value = "WHAT",
       .otherwise = "report",
       .choices = {api::kOnStallChoices.begin(), api::kOnStallChoices.end()},
       .is_ours = true,
       .group = kOurs,
       .help = "what to do when a rank holds the others up"},
      {.name = "stall-after",
       .kind = FlagKind::kInteger,
       .value = "S",
       .otherwise = "3",
       .is_ours = true,
       .group = kOurs,
       .help = "seconds without progress before a rank is examined"},
      {.name = "stop-on-nan",
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .is_ours = true,
       .group = kOurs,
       .help = "stop when a rank prints a loss that is NaN or infinite"},
      {.name = "explain",
       .value = "on|off",
       .otherwise = "on",
       .choices = {"on", "off"},
       .is_ours = true,
       .group = kOurs,
       .help = "after a failure, say which rank, why, and what to do"},
      {.name = "failure-file",
       .value = "PATH",
       .is_ours = true,
       .group = kOurs,
       .help = "write the failure as JSON here, besides failure.json in the log folder"},
      {.name = "print-completion",
       .value = "SHELL",
       .choices = {"bash", "zsh", "tcsh"},
       .has_variable = false,
       .group = kOurs,
       .help = "print a completion script"},
      {.name = "torch-distributed-launch",
       .kind = FlagKind::kSwitch,
       .otherwise = "0",
       .is_ours = true,
       .group = kOurs,
       .help = "behave as that module: pass --local-rank=N to the script"},
  };
}

}  // namespace

const std::vector<FlagSpec>& AllFlags() {
  static const std::vector<FlagSpec> flags = [] {
    std::vector<FlagSpec> all;
    for (const auto& part :
         {JobFlags(), MeetingFlags(), ProgramFlags(), FailureFlags(), LogFlags(), OwnFlags()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return flags;
}

std::string VariableOf(const FlagSpec& flag) {
  std::string name = "PET_" + base::ToUpper(flag.name);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

}  // namespace launch
