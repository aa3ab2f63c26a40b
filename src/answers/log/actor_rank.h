// The ranks of processes whose launcher names them by their PID: Ray's actors, vLLM's workers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace answers {

// Finds the rank of what stands in the brackets before a line, "RayTrainWorker pid=430,
// ip=10.0.0.2".
class ActorRanks {
 public:
  // Reads a row of Ray Train's table of workers, "- (node_id=a1, ip=10.0.0.2, pid=430)
  // world_rank=3, local_rank=1, node_rank=1" (older versions have no node_id). Ignores other texts.
  void ReadRow(std::string_view text);

  // Notes a name that is before a line.
  void ReadName(std::string_view name);

  // Nullopt if the rank is unknown, or if several processes have it.
  std::optional<int> RankOf(std::string_view name) const;

  // The rank of the worker whose exception Ray's driver raises: "ray.exceptions.RayTaskError(E):
  // ray::_RayTrainWorker__execute.get_next() (pid=430, ip=10.0.0.2, actor_id=...)".
  std::optional<int> RankOfTaskError(std::string_view text) const;

  // The rank of the worker that Ray reports to have died in lines[at], without a cause of its own:
  // "A worker died or was killed while executing a task ... Worker PID: 430 Worker exit type:
  // SYSTEM_ERROR", the block of an ActorDiedError that begins in this line, or "Memory on the node
  // (IP: 10.0.0.2, ID: ...) where the task (actor ID: ..., name=RayTrainWorker.__init__, pid=430,
  // memory used=181.22GB) was running was ...". Nullopt also if its node died and other workers
  // with it.
  std::optional<int> RankOfDead(const std::vector<std::string_view>& lines, size_t at) const;

 private:
  using Process = std::pair<std::string, int>;  // its node's address and its PID

  std::optional<int> RankOfWorker(std::string_view fields) const;
  std::optional<int> RankOfProcess(std::optional<int> pid, std::string_view address) const;
  bool IsAloneOnNode(std::string_view address) const;

  std::map<Process, std::optional<int>> workers_;  // nullopt: with several ranks
  std::map<int, std::string> names_;               // by rank; "" if there are several
};

}  // namespace answers
