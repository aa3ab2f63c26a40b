// The rank of a log, by its file's name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace answers {

// Which pods Kubeflow's trainers have given the job.
struct KubeflowPods {
  bool has_master = false;
  bool has_launcher = false;  // of Trainer's MPI runtimes
};

// The operator's master is rank 0, and worker 0 is rank 1; without a master worker 0 is rank 0.
// Vertex AI's workerpool0-0, the only one of its pool, is rank 0, and workerpool1-0 is rank 1.
// Nullopt for another name, and for other pools of Vertex AI, which may not train.
std::optional<int> RankOfPod(std::string_view pod, bool has_master);

// The index in "train-node-0-2-x7f2k", a pod of Kubeflow's Trainer v2; the rank, if the pod has one
// process and the job no launcher (IsLaunchersPod). Nullopt for another name.
std::optional<int> RankOfNode(std::string_view pod);

// "train-launcher-0-0-k2f7x": mpirun counts this pod of Trainer's MPI runtimes, too, and has all
// output.
bool IsLaunchersPod(std::string_view pod);

// For each of the paths of one job: the number after the last "rank" in it that is the job's and
// not, as "local_rank" and "tp_rank", that in a node or a group, torchrun's folder of a
// rank ("attempt_0/3/stderr.log"), folders that count from 0 ("0/log", "1/log"), a pod's number
// ("job-worker-2.log", "train-node-0-2-x7f2k.log"), or the last number in which similar names
// differ ("slurm-8812-5.out", "worker_2.err"). Numbers of nodes and attempts are not ranks, and
// neither are those that the files of two hosts share ("gpu-a-0.log", "gpu-b-0.log") or that of a
// pod whose name has no extension. `is_master_known`: the job has a master whose log may be
// missing, so that a worker 0 is not rank 0. Pure.
std::vector<std::optional<int>> RanksOfFiles(const std::vector<std::string_view>& paths,
                                             bool is_master_known = false);

// Whether the paths differ only in letters that stand alone or in numbers, as those of two hosts
// do: "gpu-a.log" and "gpu-b.log", "node-0/job.log" and "node-1/job.log". Pure.
bool AreOfTwoHosts(std::string_view one, std::string_view other);

}  // namespace answers
