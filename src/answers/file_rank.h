// Which rank a log is of, by its name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace answers {

// Of the operator's pods the master is rank 0, and worker 0 is rank 1; without a master worker 0
// is. Nullopt for another name.
std::optional<int> RankOfPod(std::string_view pod, bool has_master);

// Of paths of one job, for each: the number behind the last "rank" in it, torchrun's folder of a
// rank ("attempt_0/3/stderr.log"), folders that are counted from 0 on ("0/log", "1/log"), a pod's
// number ("job-worker-2.log", "train-node-0-2-x7f2k.log"), or the last number by which names differ
// that are alike ("slurm-8812-5.out", "worker_2.err"). A number of a node or an attempt is none,
// nor is one of a pod whose name has no extension. Pure.
std::vector<std::optional<int>> RanksOfFiles(const std::vector<std::string_view>& paths);

}  // namespace answers
