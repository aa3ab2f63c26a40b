// What one rank's end, or the cluster, says about why the job failed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/rule.h"
#include "answers/traceback.h"

namespace answers {

struct Finding {
  std::string_view rule;  // its name; "" where none knows it
  std::string_view kind, title, advice_text;
  Advice advice = Advice::kNone;
  Level level = Level::kDeciding;
  Confidence confidence = Confidence::kHigh;
  // In a log of several ranks, the launcher names another exception of the rank that failed first:
  // this one may be of any rank.
  bool is_of_any_rank = false;
  // Programs that go on print such a line, too: what another rank says decides first.
  bool is_doubtful = false;
  std::string line;  // the line that decides it
  std::optional<base::Time> time;
  size_t order = 0;
  Frame frame;                     // the user's; views into the rank's lines
  std::vector<std::string> words;  // the traceback's end, or the lines around: evidence

  // Takes over what the rule says, and lowers the confidence to what it allows.
  void Take(const Rule& taken);
};

// The cause of a rank's failure: what its status and its log decide, otherwise how it ended.
// Nullopt for a rank that did not fail.
std::optional<Finding> FindInRank(const Rank& rank);

// What NCCL has reported about its network or GPUs before the rank's last work: it stops one rank,
// and others go on for a while before they wait for that one in vain. Nullopt if there is nothing,
// and for a rank that did not fail.
std::optional<Finding> FindPassedByNccl(const Rank& rank);

// Where in a log its first error is, from the first line to the one after the last: an exception
// that nothing has handled, or the line that a rule knows, or else the last word of a failure. Work
// that went on after it does not matter here. Nullopt when there is none.
std::optional<std::pair<size_t, size_t>> FirstError(const std::vector<Line>& lines);

// Whether its exit code is not 0. A rank whose end is not known counts as failed, too: its log may
// show an exception that ended it.
bool HasFailed(const Rank& rank);

// Judges a status or an event by Kubernetes' reasons.
std::optional<Finding> FindInStatus(std::string_view reason, std::string_view message);

// For each line, whether it is what kubectl prints of a pod that has overcome it: a wait for room,
// if the pod was assigned to a node, one for a volume or a sandbox, if a container of the pod was
// started, and the last state of a container that has completed since. `kubectl get events` prints
// events in any order, with their ages, and names the pod; `describe` prints them in the order of
// time. Pure. Empty if there are none.
std::vector<bool> FindOvertaken(std::span<const std::string_view> lines);
std::vector<bool> OvertakenIn(const std::vector<Line>& lines);

}  // namespace answers
