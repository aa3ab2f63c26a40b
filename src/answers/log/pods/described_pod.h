// The pods that kubectl describes, by their own names and labels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/log/pods/file_rank.h"
#include "base/clock.h"

namespace answers {

struct DescribedPod {
  std::string name;               // "" if these lines do not have it
  std::string node;               // that it was assigned to; "" if these lines do not say it
  std::optional<int> rank;        // nullopt if it is unknown, or if it may be one of several
  bool may_have_several = false;  // ranks: it has several GPUs, or starts several processes
  size_t begin = 0, end = 0;      // its lines
  // How its only container ended, or the only one that failed.
  std::optional<int> exit_code;
  std::optional<base::Time> ended;
};

// The value of "reason: OOMKilled", "      Reason:       OOMKilled", "- reason: OOMKilled" and
// "\"reason\": \"OOMKilled\",", whose key has any case. Nullopt for another line. Pure.
std::optional<std::string_view> FieldValue(std::string_view line, std::string_view key);

// The pods in the output of `kubectl describe`, `get -o yaml` and `get -o json`, with their ranks
// by the variable RANK, by the labels of Kubernetes' Job, of a JobSet's first job and of Kubeflow's
// trainers, or by the names that Kubeflow's trainers give them. Pure.
std::vector<DescribedPod> ReadDescribedPods(const std::vector<std::string_view>& lines,
                                            const KubeflowPods& of_job);

// The pod to which the line belongs; nullptr if there is none.
const DescribedPod* DescribedAt(const std::vector<DescribedPod>& pods, size_t line);

// Whether the text is JSON of a pod or a list of pods.
bool IsPodsJson(std::string_view text);

// The same JSON as kubectl prints it, if the text is that of pods in one line or of a list whose
// pods lack their kind, as the API server answers; else "".
std::string AsKubectlPrints(std::string_view text);

}  // namespace answers
