// The ranks that the cluster's events are about.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "answers/evidence.h"
#include "answers/log/pods/described_pod.h"

namespace answers {

// The part of a log's name that is its pod's, or that of the Job's instance which has the pod.
// Pure.
std::string_view NameOfLog(std::string_view name);

// "sam" of Kubeflow's pods "sam-worker-3", "sam-master-0", "sam-node-0-2-x7f2k", and of their logs;
// "" of others. Pure.
std::string_view JobOfPod(std::string_view name);

class PodRanks {
 public:
  // Reads where pods were in a file's lines, and which ranks the pods are that these describe.
  void Add(const std::vector<std::string_view>& lines, const std::vector<DescribedPod>& pods);

  // Gives events the rank of their pod: by what describes it, as the only rank of a log with its
  // name, or by its name if the logs of other pods have the ranks that their names tell. Those of a
  // node get the rank of the only one that was there.
  void NameRanksOf(Evidence& evidence, const KubeflowPods& of_job);

 private:
  // By the logs' names without their extensions.
  using RanksOfLogs = std::map<std::string_view, std::set<std::optional<int>>>;

  // By the name that Kubeflow's trainers give a pod of one process. Of the jobs of the logs.
  std::optional<int> RankByName(std::string_view pod) const;

  std::optional<int> RankOf(std::string_view pod, const RanksOfLogs& logs) const;
  std::optional<int> OnlyRankAt(const std::set<std::string>& pods, const RanksOfLogs& logs) const;

  std::map<std::string, std::set<std::string>, std::less<>> places_;  // pods by nodes
  // nullopt: the pod may have several
  std::map<std::string, std::optional<int>, std::less<>> described_;
  KubeflowPods of_job_;
  std::set<std::string_view> jobs_;  // of the logs
  bool are_names_ranks_ = false;     // those of the pods that have logs
};

}  // namespace answers
