// Collects what a cluster or a folder of logs says about a failed job, for `answers` to judge.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "answers/evidence.h"
#include "answers/verdict.h"
#include "arena/listing/records.h"
#include "cluster/client.h"

namespace arena {

// A trial of a sweep that has ended.
struct EndedTrial {
  std::string label;  // "lr=0.1 seed=2"
  int exit_code = 0;
  base::Time ended;
  std::string path;  // of its own log on this machine; "": its lines in the log of the sweep's pod
  std::string last_line{};  // "" if it has printed nothing
};

struct Judged {
  answers::Evidence evidence;
  answers::Verdict verdict;  // of it; files of the caller's folder by their paths in it
};
// Judges the run or, if it is a sweep and `trial` is given, that trial.
Judged VerdictOf(cluster::Client& client, const Context& context, const RunRecord& run,
                 const EndedTrial* trial = nullptr);

// How the pods ended, the end of each failed pod's log, and the job's events. Leaves out what
// cannot be read; a verdict names the missing logs.
answers::Evidence EvidenceOf(cluster::Client& client, const RunRecord& run);

// The last `lines` of a pod's log with their times, at most 16 MiB. `container` as
// ContainerToRead's `wanted`.
base::Result<std::string> EndOfLog(cluster::Client& client, const RunRecord& run,
                                   const text::Json& pod, bool is_gone, int64_t lines,
                                   const std::string& container = "");

// The first line in the ends of its logs with a loss that is NaN or infinite; "" if there is none.
std::string LostLoss(cluster::Client& client, const RunRecord& run);

// Reads files, all files below folders, and stdin ("-"), at most the last 16 MiB of each. kNotFound
// if one does not exist or a folder contains no file.
base::Result<answers::Evidence> EvidenceIn(const std::vector<std::string>& paths);

}  // namespace arena
