// What a cluster, or a folder of logs, tells of a job that failed, for `answers` to judge.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "answers/evidence.h"
#include "answers/verdict.h"
#include "arena/jobs/records.h"
#include "cluster/client.h"

namespace arena {

struct Judged {
  answers::Evidence evidence;
  answers::Verdict verdict;  // of it; files of the caller's folder by their paths in it
};
Judged VerdictOf(cluster::Client& client, const Context& context, const RunRecord& run);

// Pods with how they ended, the end of the log of each that did not end well, the job's events.
// What cannot be read is left out: a verdict names the logs that are missing.
answers::Evidence EvidenceOf(cluster::Client& client, const RunRecord& run);

// The last `lines` of a pod's log with their times, at most 16 MiB; nullopt where there is none any
// more, or none can be had.
std::optional<std::string> EndOfLog(cluster::Client& client, const RunRecord& run,
                                    const text::Json& pod, bool is_gone, int64_t lines);

// The first line of its logs' ends that tells of a loss that is NaN or infinite; "" of
// none.
std::string LostLoss(cluster::Client& client, const RunRecord& run);

// Files and all files below folders, "-" is stdin, of each at most the last 16 MiB. kNotFound when
// one is not there or holds no file.
base::Result<answers::Evidence> EvidenceIn(const std::vector<std::string>& paths);

}  // namespace arena
