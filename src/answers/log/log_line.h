// A line of a log without what others have put before it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/log/own_stamp.h"
#include "base/clock.h"

namespace answers {

struct LogLine {
  std::optional<base::Time> time;  // in UTC
  std::optional<OwnStamp> own_time;
  std::optional<int> rank;
  bool is_rank_field = false;     // the rank is known by TakeRankFields only
  std::optional<int> task;        // of `srun -l`, or of a tag of mpirun's
  bool is_rank_of_task = false;   // the rank is that number, and no tag names another
  std::optional<int> local_rank;  // as torchrun's agent of one node counts
  std::optional<int> pod_index;   // the pod's number in its Job
  std::string pod;                // or the service, the actor; "" of none
  std::string_view text;
};

// Removes, in any order and number: an RFC 3339 time (kubectl logs --timestamps, CRI with its
// stream and tag), "[pod/NAME/CONTAINER] " (kubectl logs --prefix; json_record.h adds "/index=2"
// behind the container), "[NAME-master-0] " (muster logs --all, kubetail), "[rank3]:" (PyTorch),
// "[default3]:" (torchrun --tee: a local rank, of any role), "[3]: " (muster launch), "3: " (srun
// -l), "[1,3]<stderr>:" (mpirun --tag-output), "[3]<stderr>:" (horovodrun), "[HOST:mpi_rank_3]"
// (MVAPICH), "worker-1  | " (docker compose), "a-worker-0 pytorch " and "a-node-0-2-x7f2k node "
// (stern), "(TrainWorker pid=7, ip=10.0.0.2) " (Ray), "Mar 02 10:11:04 HOST PROGRAM[7]: " (syslog),
// "ERROR\t2026-03-02 10:11:04 +0000\tworkerpool1-0\t" (Vertex AI), "{pod="a-worker-0"} " (logcli),
// "[2026-03-02 10:11:04] " or the same without brackets (loggers). Stamps of other loggers are read
// and kept. The text is a part of `line`.
LogLine ReadLogLine(std::string_view line);

// Without the sequences that colour a terminal, also where a copy of the log lost their first
// character: "[31m".
std::string WithoutEscapes(std::string_view text);

// The same for all lines of a file, of which two may stand in one ("[rank2]: KeyError: 'k'[rank0]:
// x"), also without prefixes that only many lines reveal: a margin of
// blanks or "> " before all lines, numbers of the lines (`grep -n`), "HOST: " (pdsh, DeepSpeed's
// launcher) if most lines have one and the hosts repeat, and "HOST 3: " (PALS); a host is the
// line's `pod`. Ray's and vLLM's processes get their ranks (actor_rank.h).
std::vector<LogLine> ReadLogLines(std::vector<std::string_view> lines);

// Removes the prefix; false if the text does not begin with it.
bool Take(std::string_view& text, std::string_view prefix);

// Removes prefixes that are in no list, but that tracebacks reveal (foreign_prefix.h).
void TakeForeignPrefixes(std::vector<LogLine>& lines);

}  // namespace answers
