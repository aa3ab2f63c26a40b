// The program, arguments and environment of a worker (compat/torchrun.md 2.1, 2.2). Pure, except
// for FindPython, which examines files.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "launch/flags/options.h"

namespace launch {

// The ranks of one start of the job: agreed by all nodes, or trivial for one node.
struct Group {
  int group_rank = 0;        // of this node
  int group_world_size = 1;  // nodes
  int first_rank = 0;        // rank of this node's local rank 0
  int world_size = 1;
  int role_first_rank = 0;  // among the workers of this role
  int role_world_size = 1;
  int restart_count = 0;
  std::string master_addr;
  int master_port = 0;
};

// The interpreter: the requested one, otherwise that of the active virtualenv or conda environment,
// otherwise the one beside the launcher, otherwise python3 or python on PATH. kNotFound says where
// it looked.
base::Result<std::string> FindPython(const std::string& asked, const base::Environment& environment,
                                     const std::string& launcher_dir);

// Checks that the program or script can be started, and finds it. Returns the path of the
// executable: the interpreter or the program. Otherwise an error of one line.
base::Result<std::string> FindProgramOf(const Options& options,
                                        const base::Environment& environment,
                                        const std::string& launcher_dir);

// The command line, including argv[0]; ${local_rank} is replaced in the arguments.
std::vector<std::string> WorkerArguments(const Options& options, const std::string& executable,
                                         int local_rank, bool dashed_local_rank);

// The complete environment, as "NAME=value".
std::vector<std::string> WorkerEnvironment(const Options& options,
                                           const base::Environment& environment, const Group& group,
                                           int local_rank, const std::string& error_file);

// What the launcher adds to its own environment, and therefore to every worker's: OMP_NUM_THREADS
// if several workers would compete for the CPUs. Returns the message about it; "" when there is
// none.
std::string SetSharedVariables(const Options& options, int cpus, base::Environment& environment);

// `template_text` with ${name} and $name replaced for known names, and $$ by $; unknown names stay
// (Python's string.Template).
std::string ExpandTemplate(std::string_view template_text,
                           const std::vector<std::pair<std::string, std::string>>& values);

// The program's name in reports.
std::string TitleOf(const Options& options);

// Major and minor version of this interpreter's torch, without importing it; nullopt when its file
// is not found.
std::optional<std::pair<int, int>> TorchVersionOf(const std::string& python);

// Torch before 2.2 reads NCCL_ASYNC_ERROR_HANDLING, without the prefix TORCH_, and its torchrun
// sets that to 1.
void SetVariablesOfTorch(const Options& options, const std::string& python,
                         base::Environment& environment);

// Whether the torch of this interpreter passes --local-rank with a dash (2.0 and later, and if
// unknown) rather than --local_rank.
bool UsesDashedLocalRank(const std::string& python);

}  // namespace launch
