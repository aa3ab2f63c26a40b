// Finds Kubeflow's training operator for `muster install`, and takes its PyTorchJobs over
// (compat/pytorchjob.md 3.1, 3.6).
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arena/objects/kind_finder.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

// Its objects that concern PyTorchJobs.
struct OtherOperator {
  std::optional<text::Json> deployment;
  std::vector<text::Json> webhook_configurations;

  bool is_there() const { return deployment || !webhook_configurations.empty(); }
  // "Kubeflow's training operator (deployment kubeflow/training-operator)"
  std::string Text() const;
};

// `namespace_name` "": all. Without permission to look, nothing is found and there is no error.
base::Result<OtherOperator> FindOtherOperator(cluster::Client& client, KindFinder& kinds,
                                              const std::string& namespace_name);

// Takes PyTorchJobs from it: removes them from its webhook, and lets its Deployment run the other
// kinds of the cluster, or none. Returns when its last old pod is gone; otherwise kTimeout. Does
// not touch jobs and their pods.
base::Status TakeOver(cluster::Client& client, KindFinder& kinds, const OtherOperator& other,
                      std::chrono::milliseconds timeout);

// Pure parts.
bool RunsPyTorchJobs(const text::Json& deployment);
// `kinds`: the other kinds that it continues with, "tfjob".
void LeaveToIt(const std::set<std::string>& kinds, text::Json& deployment);
bool HasPyTorchWebhook(const text::Json& configuration);
void ErasePyTorchWebhook(text::Json& configuration);

}  // namespace arena
