// The settings from the command line, checked and completed.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/on_stall.h"
#include "base/environment.h"
#include "base/result.h"
#include "launch/flags/flags.h"
#include "launch/flags/rendezvous_settings.h"
#include "launch/flags/streams.h"

namespace launch {

// What to do about a rank that stalls the others.
enum class OnStall { kOff, kReport, kStacks, kRestart, kStop };

enum class ProgramKind { kScript, kModule, kProgram, kRunPath };

struct Options {
  int min_nodes = 1;
  int max_nodes = 1;
  int nproc_per_node = 1;
  int node_rank = 0;
  bool has_node_rank = false;  // it was set explicitly
  std::string local_addr;
  std::string numa_binding;
  bool has_virtual_local_rank = false;

  bool is_static = false;  // backend static; c10d otherwise
  // The rendezvous needs no other node.
  bool is_single_node = true;
  std::string endpoint_flag = "--rdzv-endpoint";  // the flag that set the endpoint
  std::string endpoint_host;                      // c10d: where the nodes meet; static: MASTER_ADDR
  int endpoint_port = 0;                          // 0: any free one
  std::string run_id;
  RendezvousConf conf;

  ProgramKind kind = ProgramKind::kScript;
  std::string program;  // script, module or program
  std::vector<std::string> args;
  std::string role;
  std::string python;  // as given; "": the one that FindPython finds
  bool passes_local_rank = false;
  bool is_warm = false;              // ranks are forked from an interpreter that has imported torch
  std::string preload;               // modules that it imports as well, separated by commas
  std::chrono::seconds warm_idle{};  // how long it may be idle
  int64_t warm_kept = 0;             // the most idle interpreters of this user

  int max_restarts = 0;
  // Nullopt: not set; each kind of end has its own default.
  std::optional<std::chrono::seconds> shutdown_timeout;
  // From a signal to SIGKILL, without shutdown_timeout. A pod is killed at the end of its grace
  // period, of which this leaves some for the launcher's report. Without a pod: of the 30 s that
  // torchrun, Kubernetes and Slurm give.
  std::chrono::milliseconds grace_after_signal{std::chrono::seconds(27)};
  std::vector<int> handled_signals;
  std::string signals_to_handle;  // as given; the workers read it, too

  std::string log_dir;  // "": a temporary one
  bool has_logs = true;
  StreamChoice redirects;
  StreamChoice tee;
  std::string prefix_template;
  std::set<int> shown_ranks;  // empty: all
  std::vector<std::string> stdout_filters;
  std::vector<std::string> stderr_filters;

  OnStall on_stall = OnStall::kReport;
  std::chrono::seconds stall_after = api::kUsualStallAfter;

  bool explains = true;
  bool stop_on_nan = false;
  bool takes_posts = true;   // ranks learn where to post their progress
  bool shows_status = true;  // on a terminal
  bool prints_events = false;
  std::string failure_file;
  // To be shown, although they are not errors.
  std::vector<std::string> warnings;
};

// Reads only device variables from the environment. kInvalidArgument for invalid values (exit code
// 1, as for the original's ValueError and AssertionError).
base::Result<Options> MakeOptions(const CommandLine& line, const base::Environment& environment);

}  // namespace launch
