// What a worker is: its program, arguments and environment (compat/torchrun.md 2.1, 2.2). Pure but
// for FindPython, which looks at files.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "launch/flags/options.h"

namespace launch {

// Where the ranks of one start of the job are: agreed by all nodes, or trivial on one.
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

// The interpreter: what was asked for, else the active virtualenv's or conda environment's, else
// the one beside the launcher, else python3 or python on PATH. kNotFound with what was looked for.
base::Result<std::string> FindPython(const std::string& asked, const base::Environment& environment,
                                     const std::string& launcher_dir);

// Checks that the program or script can be started at all, and finds it. Returns the path of what
// is executed: the interpreter or the program. One clear line otherwise.
base::Result<std::string> FindProgramOf(const Options& options,
                                        const base::Environment& environment,
                                        const std::string& launcher_dir);

// The words of the command, argv[0] included; ${local_rank} is replaced in the arguments.
std::vector<std::string> WorkerArguments(const Options& options, const std::string& executable,
                                         int local_rank, bool dashed_local_rank);

// Complete, as "NAME=value".
std::vector<std::string> WorkerEnvironment(const Options& options,
                                           const base::Environment& environment, const Group& group,
                                           int local_rank, const std::string& error_file);

// What the launcher adds to its own environment, and so to every worker's: OMP_NUM_THREADS where
// several workers would fight for the CPUs. The line to say about it; "" when there is none.
std::string SetSharedVariables(const Options& options, int cpus, base::Environment& environment);

// `template_text` with ${name} and $name replaced for the known names, $$ by $; unknown names
// stay (Python's string.Template).
std::string ExpandTemplate(std::string_view template_text,
                           const std::vector<std::pair<std::string, std::string>>& values);

// The name that reports give the program.
std::string TitleOf(const Options& options);

// Major and minor number of this interpreter's torch, which is not imported; nullopt where its file
// is not found.
std::optional<std::pair<int, int>> TorchVersionOf(const std::string& python);

// Torch before 2.2 reads NCCL_ASYNC_ERROR_HANDLING, without TORCH_ before it, and its own torchrun
// sets that to 1.
void SetVariablesOfTorch(const Options& options, const std::string& python,
                         base::Environment& environment);

// Whether the torch of this interpreter passes --local-rank with a dash (2.0 and later, and when
// nothing is known) rather than --local_rank.
bool UsesDashedLocalRank(const std::string& python);

}  // namespace launch
