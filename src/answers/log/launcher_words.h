// Finds the rank that failed in the messages of launchers in their ranks' logs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace answers {

// What a launcher says about when a process ended, compared with the others.
enum class Ended {
  kFirst,      // before all others
  kAsWritten,  // before those of the messages below
  kUnordered,  // in a list by ranks, which also has those that the launcher ended itself
  kLater,      // after another one
};

struct LauncherRow {
  std::optional<int> rank;
  std::optional<int> local_rank;
  std::optional<int> exit_code;  // 128 + a signal
  std::optional<int> pid;
  std::string host;
  std::string words;               // text about how it ended
  std::string crash;               // where it crashed (stall/stack.h), as muster-launch says
  std::string error_file;          // "" if the worker wrote none
  std::optional<base::Time> time;  // of the launcher's clock
  Ended ended = Ended::kAsWritten;
  bool is_others_cleaned_up = false;  // the launcher says that it ends the other processes now
  bool has_exception = false;         // the launcher's own lines repeat the rank's exception
  // The rank is the local one, because nothing names another: they are the same on the first node.
  bool is_local = false;

  bool operator==(const LauncherRow&) const = default;
};

// The ranks of one node.
struct NodeRanks {
  int first = 0;
  int last = 0;
};

// nullopt: several ranks have the PID, on different hosts.
using RanksOfPids = std::map<int, std::optional<int>>;
void AddRankOfPid(RanksOfPids& ranks, int pid, std::optional<int> rank);

// The global ranks of a node's local ranks. nullopt: agents name several.
using RanksOfLocals = std::map<int, std::optional<int>>;

// From what torchrun's agent says when its workers begin: "local_ranks=[0, 1]" and, in a line
// below, "global_ranks=[8, 9]". Pure.
RanksOfLocals ReadRanksOfLocals(const std::vector<std::string_view>& lines);

// The rank of the only process of torchrun's agent, by its "global_ranks=[3]". `is_of_one_agent`:
// all lines are from one place, where a later number is that of a later rendezvous; otherwise two
// numbers may be those of two agents: nullopt. Pure.
std::optional<int> ReadLoneRank(const std::vector<std::string_view>& lines, bool is_of_one_agent);

// The ranks of a node's processes, by DeepSpeed's "global_rank_mapping=defaultdict(<class 'list'>,
// {'n1': [0], 'n2': [1]})" or, without it, by the "num_local_procs=8" of the only node. `host`: the
// node that the lines are from or, if it is "", that of their "node_rank=1". Empty if they do not
// say. Pure.
std::vector<int> ReadRanksOfDeepSpeed(const std::vector<std::string_view>& lines,
                                      std::string_view host);

struct LauncherWords {
  std::vector<LauncherRow> rows;  // in the order of the lines
  RanksOfPids ranks_of_pids;      // also of processes that the launcher may have ended itself
  std::optional<int> first_rank;  // that failed first, according to the launcher
  std::optional<base::Time> first_time;
  bool is_first_local = false;     // first_rank is a LauncherRow's that is_local
  std::optional<NodeRanks> ranks;  // of the launcher's node, if there is only one
};

// torchrun's table, srun's "task 5: Killed", and the messages of mp.spawn, Lightning, Composer,
// mpirun and Hydra about a process that ended. Pure.
LauncherWords ReadLauncherWords(const std::vector<std::string_view>& lines);

// Whether the launcher's words are of torchrun's table, of a row that ends before the exit code.
bool IsOfCutTable(std::string_view words);

// The rank whose output follows one of Composer's headings: -1 when its output ends.
std::optional<int> ReadSection(std::string_view line);

}  // namespace answers
